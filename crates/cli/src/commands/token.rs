//! `holdfast token`.

use serde_json::json;

use crate::fault::Fault;
use crate::reach::{Reach, Surroundings, endpoint, lives};

/// What `token` is told.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub(crate) reach: Reach,
}

pub(super) fn run(args: &Args, around: &Surroundings) -> Result<(), Fault> {
    if args.reach.host(around).is_some() {
        let text = "A host tells its token to nobody: run `holdfast token` on its machine.";
        return Err(Fault::usage(text));
    }
    let data_dir = args.reach.data_dir(around)?;
    let endpoint = endpoint(&data_dir)?;
    let running = lives(endpoint.pid);
    let out = args.reach.out();
    if out.is_json() {
        let (url, token) = (endpoint.url, endpoint.token);
        return out.json(&json!({ "url": url, "token": token, "running": running }));
    }
    out.line(&endpoint.token)?;
    if !running {
        out.note("The host does not run now; its token stays valid when it runs again.");
    }
    out.hint(&format!(
        "\nWhoever has it may do everything with this host. On another machine:\n  \
         HOLDFAST_TOKEN=… holdfast status --host {url}\nIn a program:\n  \
         curl -H \"Authorization: Bearer $(holdfast token)\" {url}/api/v1/host",
        url = endpoint.url
    ));
    Ok(())
}
