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
use holdfast_http::port::{Host as _, StopAgents};
use holdfast_keeper::registry::Limits;
use holdfast_store::search::{self, Search};
use holdfast_store::{Options, Sqlite, Store};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::browser;
use crate::commands::place;
use crate::config::{Config, Recheck, Told};
use crate::data_dir::{self, DataDir, Endpoint};
use crate::environment::Surroundings;
use crate::exit::{FAILED, Failed, REFUSED, USAGE};
use crate::listener::{self, Given, Left};
use crate::log;
use crate::port::{Border, Wish};

/// What a stop says that stopped no agent.
const UNRECORDED: &str = "what agents were doing could not be recorded, so they were left running \
                          under their keepers: the next start goes on with them";

/// What `serve` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The address to listen on; port 0 picks one. [default: 127.0.0.1:7433]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    place: place::Args,
    /// Where chats are kept.
    #[arg(long, default_value = "sqlite", value_name = "STORE", value_parser = NonEmptyStringValueParser::new())]
    store: String,
    /// Print one line of JSON when the host serves.
    #[arg(long)]
    json: bool,
    /// Open the page in the browser, signed in.
    #[arg(long)]
    open: bool,
    /// The form of the log on stderr: text or json.
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"])]
    log_format: Option<String>,
    /// The port that the host which this one replaces was given for port 0.
    #[arg(long, hide = true)]
    keep_port: Option<u16>,
}

impl Args {
    fn told(&self) -> Told {
        let told = self.place.told(self.listen.map(|listen| listen.to_string()));
        Told { log_format: self.log_format.clone(), ..told }
    }
}

/// Serves until told to stop.
pub(crate) fn run(args: &Args) -> ExitCode {
    let given = match Given::find(args.keep_port.is_some()) {
        Ok(given) => given,
        Err(error) => return fail(&Failed::new(FAILED, error)),
    };
    let config = match Config::read(&args.told()) {
        Ok(config) => config,
        Err(faults) => return fail(&Failed::new(USAGE, faults)),
    };
    log::begin(&config);
    for note in &config.notes {
        tracing::warn!("{note}");
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&Failed::new(FAILED, error)),
    };
    let ended = runtime.block_on(serve(args, &config, given));
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    match ended {
        Ok(Ended::Stopped) => ExitCode::SUCCESS,
        Ok(Ended::Replaced(left)) => fail(&replace(args, &left)),
        Err(failed) => fail(&failed),
    }
}

fn fail(failed: &Failed) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "holdfast: {:#}", failed.error);
    ExitCode::from(failed.code)
}

/// What a person does about a second host.
fn second(failed: Failed) -> Failed {
    if failed.code != REFUSED {
        return failed;
    }
    let text = format!("{:#}: holdfast stop ends it, holdfast restart replaces it", failed.error);
    Failed::new(REFUSED, anyhow!(text))
}

/// How serving ended.
enum Ended {
    Stopped,
    Replaced(Left),
}

async fn serve(args: &Args, config: &Config, given: Option<Given>) -> Result<Ended, Failed> {
    let mut signals = Signals::listen().context("signals cannot be listened to")?;
    if args.store != "sqlite" {
        let text = format!("the store {:?} is not there yet: only sqlite is", args.store);
        return Err(Failed::new(USAGE, anyhow!(text)));
    }
    // In this order nothing is touched when the directory or the port is another's.
    data_dir::check_free(&config.data_dir).map_err(second)?;
    let mut wanted = config.listen;
    if let Some(port) = args.keep_port.filter(|_| wanted.port() == 0) {
        wanted.set_port(port);
    }
    let (listener, left) = listener::listen(given, wanted)?;
    let listen = left.address;
    let data = DataDir::take(&config.data_dir).map_err(second)?;
    let dir = data.path().to_owned();
    let opening = tokio::task::spawn_blocking(move || Sqlite::open(&Options::new(dir)));
    let sqlite = opening.await.context("opening the store was cut short")?;
    let sqlite = sqlite.context("the store cannot be opened")?;
    let store: Arc<dyn Store> = Arc::new(sqlite.clone());
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    let dir = data.path().to_owned();
    let surroundings = Arc::new(Surroundings::new(program.clone(), dir, config.asks_shell()));
    let options = options(config, &data, program, &surroundings);
    let host = Host::new(options, Arc::clone(&store));
    // Nobody but the first agent waits for it.
    let asked = Arc::clone(&surroundings);
    tokio::spawn(async move { asked.refresh().await });
    host.start().await.context("the store cannot say what is owed")?;

    let token = data.token()?;
    let (wish, mut wishes) = mpsc::channel(4);
    let stopping = CancellationToken::new();
    let search = index(&host, &data);
    let check = Recheck::new(args.told(), config);
    let border = Border::new(host.clone(), wish, search, check.clone(), surroundings);
    let border = Arc::new(border);
    // What is installed is known before somebody asks, as a rule.
    let (agents, asks) = (host.agents().clone(), Arc::clone(&border));
    tokio::spawn(async move {
        agents.environment_known().await;
        asks.agents().await;
    });
    let tokens = Arc::new(OneToken::new(&token, Principal::person("owner")));
    let sessions = Arc::new(data.sessions(&token)?);
    let app = App::new(border, tokens, Names::new(listen, &[]), stopping.clone())
        .with_sessions(Arc::clone(&sessions));
    let app = if config.open_metrics() { app.with_open_metrics() } else { app };
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

    let wish = loop {
        match signals.wish(&mut wishes).await {
            // Whoever replaces this host would not start: the user is better off with this one.
            Wish::Restart if let Err(error) = check.check() => {
                tracing::error!("the host goes on and was not replaced: {error}");
            }
            wish => break wish,
        }
    };
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
        Wish::Restart => Ended::Replaced(left),
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

fn options(
    config: &Config,
    data: &DataDir,
    program: PathBuf,
    surroundings: &Surroundings,
) -> HostOptions {
    let temp = data.path().join("tmp");
    let agents = Agents::new(config.agents(&program), surroundings.watch(), temp);
    HostOptions {
        data_dir: data.path().to_owned(),
        keeper: KeeperProgram { program, args: vec!["keeper".into()] },
        agents,
        release_after: config.release_after(),
        ceiling_after: config.ceiling_after(),
        limits: Limits {
            spool_bytes_max: config.spool_bytes(),
            host_gone_ms: u64::try_from(config.host_gone().as_millis()).unwrap_or(u64::MAX),
            ..Limits::default()
        },
    }
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
    let url = &endpoint.url;
    let link = sessions.link()?;
    let program = std::env::current_exe().map(|path| path.display().to_string());
    let program = word(&program.unwrap_or_else(|_| "holdfast".to_owned()));
    // Where it is not the usual one, whoever calls has to name it too.
    let place = args.place.data_dir.as_ref().map(|_| {
        let dir = word(&data.path().display().to_string());
        format!(" --data-dir {dir}")
    });
    let place = place.unwrap_or_default();
    let _ = writeln!(
        out,
        "Holdfast serves at {url}\n\
         data  {}\n\n\
         Sign a browser in, once, with this link:\n\n  {url}{link}\n\n\
         Or talk to the demo agent in another terminal:\n\n  \
         {program} chat new{place} --wait 'Hello'\n\n\
         Programs call {url}/api/v1 with the token that this prints:\n\n  \
         {program} token{place}\n\n\
         Stop with Ctrl-C: what agents were doing is offered at the next start.",
        data.path().display()
    );
    Ok(())
}

/// A word as a shell reads it.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    if text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
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

/// Becomes the new host, on the same socket. Returns only if that failed.
#[allow(clippy::disallowed_methods, reason = "it becomes a process, it starts none")]
fn replace(args: &Args, left: &Left) -> Failed {
    use std::os::unix::process::CommandExt;

    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return Failed::new(FAILED, error),
    };
    let mut command = std::process::Command::new(program);
    command.arg("serve");
    if let Err(error) = left.give(&mut command) {
        return Failed::new(FAILED, error);
    }
    if let Some(listen) = args.listen {
        command.arg("--listen").arg(listen.to_string());
    }
    for (flag, value) in [("--data-dir", &args.place.data_dir), ("--config", &args.place.config)] {
        if let Some(value) = value {
            command.arg(flag).arg(value);
        }
    }
    if let Some(format) = &args.log_format {
        command.arg("--log-format").arg(format);
    }
    if args.json {
        command.arg("--json");
    }
    Failed::new(FAILED, command.exec())
}
