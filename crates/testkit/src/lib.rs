//! Scripted agents and scripted model servers as real processes, and a test host.
