//! The one place with `unsafe`: what has to happen in a child between fork and exec, and what has to
//! happen to descriptors of which this process knows nothing.
#![allow(unsafe_code)]

use rustix::process::{Pid, Signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The first descriptor that is not stdin, stdout or stderr.
const FIRST_INHERITED_FD: libc::c_uint = 3;
/// One more than the highest signal number.
const SIGNALS_END: libc::c_int = 65;

/// Makes the child of `command` die with its parent, and start like a program started from a shell: in a
/// process group of its own, with no signal blocked, ignored or handled.
pub(crate) fn harden(command: &mut Command) {
    let parent = rustix::process::getpid();
    command.process_group(0);
    // SAFETY: between fork and exec only async-signal-safe functions may be called, and no memory may be
    // allocated: `in_child` makes system calls and calls to `signal`, `sigemptyset` and `sigprocmask` only.
    unsafe {
        command.pre_exec(move || in_child(parent));
    }
}

fn in_child(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // If the parent died before the line above, no signal will come.
    if rustix::process::getppid() != Some(parent) {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    for signal in 1..SIGNALS_END {
        // SAFETY: resets a disposition; for numbers that have none (KILL, STOP, and those that the C
        // library keeps for itself) the call is refused, which is as good.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    unblock_signals();
    Ok(())
}

fn unblock_signals() {
    // SAFETY: `set` is written by `sigemptyset` before `sigprocmask` reads it; no old set is asked for.
    unsafe {
        let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, set.as_ptr(), std::ptr::null_mut());
    }
}

/// Sheds what ancestors have left: every descriptor but the three, and blocked signals. To be called first
/// in `main`, while nothing else is open: a keeper lives long, and neither it nor its agent must hold a
/// pipe or a lock that somebody forgot to close. Kernels before 5.9 do not know the call that closes: then
/// what was inherited stays.
pub(crate) fn shed_inherited() {
    unblock_signals();
    let (first, last, flags): (libc::c_uint, libc::c_uint, libc::c_uint) =
        (FIRST_INHERITED_FD, libc::c_uint::MAX, 0);
    // SAFETY: takes three integers, and nothing of this process owns a descriptor in the range yet.
    unsafe {
        libc::syscall(libc::SYS_close_range, first, last, flags);
    }
}
