//! `holdfast serve`.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use clap::builder::NonEmptyStringValueParser;
use holdfast_core::offer::Cause;
use holdfast_host::agents::Agents;
use holdfast_host::host::KeeperProgram;
use holdfast_host::{Host, HostOptions};
use holdfast_http::App;
use holdfast_http::auth::{Names, OneToken, Principal, Sessions};
use holdfast_http::port::StopAgents;
use holdfast_store::search::{self, Search};
use holdfast_store::{Options, Sqlite, Store};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::browser;
use crate::config::{self, Config};
use crate::data_dir::{self, DataDir, Endpoint};
use crate::environment;
use crate::exit::{FAILED, Failed, USAGE};
use crate::port::{Border, Wish};

/// What a stop says that stopped no agent.
const UNRECORDED: &str = "what agents were doing could not be recorded, so they were left running \
                          under their keepers: the next start goes on with them";

/// What `serve` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The address to listen on; port 0 picks one.
    #[arg(long, default_value = "127.0.0.1:7433", value_name = "HOST:PORT")]
    listen: SocketAddr,
    /// Everything of this host is below this directory.
    #[arg(long, env = "HOLDFAST_DATA_DIR", value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The configuration; by default `config.toml` in the data directory.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where chats are kept.
    #[arg(long, default_value = "sqlite", value_name = "STORE", value_parser = NonEmptyStringValueParser::new())]
    store: String,
    /// Print one line of JSON when the host serves.
    #[arg(long)]
    json: bool,
    /// Open the page in the browser, signed in.
    #[arg(long)]
    open: bool,
}

/// Serves until told to stop.
pub(crate) fn run(args: &Args) -> ExitCode {
    log();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&Failed::new(FAILED, error)),
    };
    let ended = runtime.block_on(serve(args));
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    match ended {
        Ok(Ended::Stopped) => ExitCode::SUCCESS,
        Ok(Ended::Replaced(listen)) => fail(&replace(args, listen)),
        Err(failed) => fail(&failed),
    }
}

fn fail(failed: &Failed) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "holdfast: {:#}", failed.error);
    ExitCode::from(failed.code)
}

fn log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("HOLDFAST_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    // A second call, in tests, changes nothing.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false)
        .try_init();
}

/// How serving ended.
enum Ended {
    Stopped,
    Replaced(SocketAddr),
}

async fn serve(args: &Args) -> Result<Ended, Failed> {
    let mut signals = Signals::listen().context("signals cannot be listened to")?;
    if args.store != "sqlite" {
        let text = format!("the store {:?} is not there yet: only sqlite is", args.store);
        return Err(Failed::new(USAGE, anyhow!(text)));
    }
    let wanted = match &args.data_dir {
        Some(dir) => std::path::absolute(dir).context("cannot use the data directory")?,
        None => data_dir::usual_place().map_err(|error| Failed::new(USAGE, error))?,
    };
    // In this order nothing is touched when the directory or the port is another's.
    data_dir::check_free(&wanted)?;
    let config = Config::read(args.config.as_deref(), &config::usual_place(&wanted))
        .map_err(|error| Failed::new(USAGE, error))?;
    let listener = holdfast_http::listen(args.listen)
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    let listen = listener.local_addr().context("cannot tell the port")?;
    let data = DataDir::take(&wanted)?;
    let dir = data.path().to_owned();
    let opening = tokio::task::spawn_blocking(move || Sqlite::open(&Options::new(dir)));
    let sqlite = opening.await.context("opening the store was cut short")?;
    let sqlite = sqlite.context("the store cannot be opened")?;
    let store: Arc<dyn Store> = Arc::new(sqlite.clone());
    let host = Host::new(options(&config, &data)?, Arc::clone(&store));
    host.start().await.context("the store cannot say what is owed")?;

    let token = data.token()?;
    let (wish, mut wishes) = mpsc::channel(4);
    let stopping = CancellationToken::new();
    let search = index(&host, &data);
    let border = Arc::new(Border::new(host.clone(), wish, search));
    let tokens = Arc::new(OneToken::new(&token, Principal::person("owner")));
    let sessions = Arc::new(data.sessions(&token)?);
    let app = App::new(border, tokens, Names::new(listen, &[]), stopping.clone())
        .with_sessions(Arc::clone(&sessions));
    let serving = tokio::spawn(holdfast_http::serve(listener, app));
    let endpoint = Endpoint {
        url: format!("http://{listen}"),
        token,
        pid: std::process::id(),
        generation: store.generation(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    data.announce(&endpoint)?;
    greet(args, &data, &endpoint, &sessions)?;

    let wish = signals.wish(&mut wishes).await;
    signals.exit_on_next();
    let stopped = match wish {
        Wish::Stop(StopAgents::Stop) => host.stop_agents(Cause::Quit).await,
        Wish::Stop(StopAgents::Keep) | Wish::Restart => {
            host.keep_agents();
            Ok(())
        }
    };
    stopping.cancel();
    let _ = tokio::time::timeout(std::time::Duration::from_secs(2), serving).await;
    stopped.context(UNRECORDED)?;
    Ok(match wish {
        Wish::Stop(_) => Ended::Stopped,
        Wish::Restart => Ended::Replaced(listen),
    })
}

/// The index of all transcripts, which follows the store from now on. A host without one serves
/// everything else.
fn index(host: &Host, data: &DataDir) -> Option<Search> {
    let store = host.store();
    match Search::open(data.path(), store.incarnation()) {
        Ok(search) => {
            tokio::spawn(search::follow(search.clone(), store));
            Some(search)
        }
        Err(error) => {
            host.note_damage(format!("Transcripts cannot be searched: {error}."));
            None
        }
    }
}

fn options(config: &Config, data: &DataDir) -> Result<HostOptions, Failed> {
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    let agents = Agents::new(config.agents(&program), environment::all(), data.path().join("tmp"));
    Ok(HostOptions {
        data_dir: data.path().to_owned(),
        keeper: KeeperProgram { program, args: vec!["keeper".into()] },
        agents,
        release_after: config.release_after(),
    })
}

/// Tells what a person or a program starts with. Whoever started this host may have closed the
/// other end since, before a replacement for one: that is no reason to end.
fn greet(
    args: &Args,
    data: &DataDir,
    endpoint: &Endpoint,
    sessions: &Sessions,
) -> anyhow::Result<()> {
    if args.open {
        let link = format!("{}{}", endpoint.url, sessions.link()?);
        if let Err(error) = browser::open(data.path(), &link) {
            let _ = writeln!(std::io::stderr(), "holdfast: the page is not opened: {error:#}");
        }
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        let line = serde_json::json!({
            "event": "ready",
            "url": endpoint.url,
            "token": endpoint.token,
            "data_dir": data.path(),
            "pid": endpoint.pid,
            "generation": endpoint.generation,
        });
        let _ = writeln!(out, "{}", serde_json::to_string(&line)?);
        return Ok(());
    }
    let Endpoint { url, token, .. } = endpoint;
    let link = sessions.link()?;
    let _ = writeln!(
        out,
        "Holdfast serves at {url}\n\
         data   {}\n\
         token  {token}\n\n\
         Sign a browser in, once, with this link:\n\n  {url}{link}\n\n\
         Open a chat with the demo agent, and let it stream:\n\n  \
         curl -s {url}/api/v1/chats -H 'Authorization: Bearer {token}' \\\n    \
         -d '{{\"agent\": \"demo\", \"message\": \"Hello [[stream 20 100]]\"}}'\n\n\
         Watch everything that happens:\n\n  \
         curl -sN {url}/api/v1/events -H 'Accept: text/event-stream' -H 'Authorization: Bearer {token}'\n\n\
         Stop with Ctrl-C: what agents were doing is offered at the next start.",
        data.path().display()
    );
    Ok(())
}

/// The signals that a host obeys. They are listened to before anything is adopted, so that none of
/// them ends the host by its default.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// What is wished first: by a signal or by a caller.
    async fn wish(&mut self, wishes: &mut mpsc::Receiver<Wish>) -> Wish {
        tokio::select! {
            _ = self.terminate.recv() => Wish::Stop(StopAgents::Stop),
            _ = self.interrupt.recv() => Wish::Stop(StopAgents::Stop),
            _ = self.hangup.recv() => Wish::Restart,
            wish = wishes.recv() => wish.unwrap_or(Wish::Stop(StopAgents::Stop)),
        }
    }

    /// From here on a further signal exits at once.
    fn exit_on_next(mut self) {
        tokio::spawn(async move {
            tokio::select! {
                _ = self.terminate.recv() => {}
                _ = self.interrupt.recv() => {}
            }
            std::process::exit(FAILED.into());
        });
    }
}

/// Becomes the new host, on the same port. Returns only if that failed.
#[allow(clippy::disallowed_methods, reason = "it becomes a process, it starts none")]
fn replace(args: &Args, listen: SocketAddr) -> Failed {
    use std::os::unix::process::CommandExt;

    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return Failed::new(FAILED, error),
    };
    let mut command = std::process::Command::new(program);
    command.arg("serve").arg("--listen").arg(listen.to_string());
    for (flag, value) in [("--data-dir", &args.data_dir), ("--config", &args.config)] {
        if let Some(value) = value {
            command.arg(flag).arg(value);
        }
    }
    if args.json {
        command.arg("--json");
    }
    Failed::new(FAILED, command.exec())
}
