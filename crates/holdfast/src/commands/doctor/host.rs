//! What a running host says of itself.

use std::path::Path;

use holdfast_cli::{Client, Exit, Fault, Reach, Surroundings, since_hours};
use serde_json::Value;

use super::{Finding, Level};
use crate::data_dir;

/// Hours without any change after which background work is looked at.
const QUIET_HOURS: u64 = 12;

/// Looks at the host, where one runs. `found` is what was found beside it.
pub(super) fn look(
    reach: &Reach,
    around: &Surroundings,
    found: &[Finding],
) -> Result<Vec<Finding>, Fault> {
    let client = reach.client(around)?;
    let here = reach.host(around).is_none();
    let host = match client.get("/host") {
        Ok(host) => host,
        Err(fault) if fault.exit == Exit::Unreachable && here => {
            return Ok(vec![silent(&reach.data_dir(around)?)]);
        }
        Err(fault) => {
            let advice = fault.advice.unwrap_or_else(|| "Look at the host's log.".to_owned());
            return Ok(vec![Finding::fail("host", fault.text, advice)]);
        }
    };
    let mut findings = vec![version(&host)];
    findings.push(damage(&host));
    // Of a host that is here the file was read by this program too.
    let told = |finding: &Finding| finding.check == "config" && finding.level == Level::Fail;
    if let Some(wrong) = host["configuration"].as_str()
        && !found.iter().any(told)
    {
        findings.push(configuration(wrong));
    }
    if !here {
        findings.extend(agents(&client)?);
    }
    findings.extend(quiet(&client)?);
    Ok(findings)
}

/// No host answers: there is none, or there is one that does not.
fn silent(data: &Path) -> Finding {
    match data_dir::check_free(data) {
        Ok(()) => Finding::ok("host", "none runs; `holdfast serve` starts one"),
        Err(_) => Finding::fail(
            "host",
            "one has the data, but it does not answer",
            "If it does not begin to within a minute, look at its log and end it with SIGTERM.",
        ),
    }
}

fn version(host: &Value) -> Finding {
    let own = env!("CARGO_PKG_VERSION");
    let theirs = host["version"].as_str().unwrap_or("unknown");
    if theirs == own {
        return Finding::ok("host", format!("one runs, version {own}, as this program"));
    }
    let text = format!("one runs with version {theirs}; this program is {own}");
    Finding::warn("host", text, "holdfast restart replaces the host and keeps the agents.")
}

fn damage(host: &Value) -> Finding {
    let found: Vec<&str> =
        host["damage"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if found.is_empty() {
        return Finding::ok("damage", "none was found");
    }
    let advice = "What can be read is shown, and what cannot is kept. Back up the data directory.";
    Finding::fail("damage", found.join("; "), advice)
}

/// The host goes on with what it had, so nothing is broken yet.
fn configuration(wrong: &str) -> Finding {
    Finding::fail("config", wrong, "Correct it, then restart: holdfast restart.")
}

fn agents(client: &Client) -> Result<Vec<Finding>, Fault> {
    let agents = client.get("/agents")?;
    let one = |agent: &Value| {
        let id = agent["id"].as_str().unwrap_or_default();
        let version = agent["version"].as_str().unwrap_or_default();
        match (agent["available"].as_bool(), agent["reason"].as_str()) {
            (_, None) => Finding::ok("agent", there(id, version)),
            (Some(true), Some(hint)) => Finding::warn("agent", there(id, version), hint),
            (_, Some(why)) => {
                Finding::warn("agent", format!("{id}: {why}"), "Do so on that machine.")
            }
        }
    };
    Ok(agents["items"].as_array().into_iter().flatten().map(one).collect())
}

/// What is said of a program that is there.
pub(super) fn there(id: &str, version: &str) -> String {
    match version {
        "" => format!("{id}: its program is there"),
        version => format!("{id}: its program is there, version {version}"),
    }
}

/// Work that nothing was heard of for long: nothing ends it by itself.
fn quiet(client: &Client) -> Result<Vec<Finding>, Fault> {
    let rows = client.all("/chats?state=open&limit=500")?;
    let quiet = rows.iter().filter(|row| {
        let works = row["activity"]["tasks"].as_array().is_some_and(|tasks| !tasks.is_empty());
        let hours = row["updated_at"].as_str().and_then(since_hours);
        works && hours.is_some_and(|hours| hours >= QUIET_HOURS)
    });
    let one = |row: &Value| {
        let id = row["id"].as_str().unwrap_or_default();
        let text = format!("{id}: its background work has said nothing for {QUIET_HOURS} hours");
        let advice = format!("If it hangs: holdfast chat interrupt --agent {id}");
        Finding::warn("quiet work", text, advice)
    };
    Ok(quiet.map(one).collect())
}
