use holdfast_core::limits::IDLE_RELEASE_MICROS;
use serde_json::json;

use super::*;

struct Scene {
    dir: tempfile::TempDir,
    told: Told,
}

impl Scene {
    fn new(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("config.toml"), text).unwrap();
        let told = Told { data_dir: Some(dir.path().to_owned()), ..Told::default() };
        Self { dir, told }
    }

    fn var(mut self, name: &str, value: &str) -> Self {
        self.told.environment.insert(name.to_owned(), value.into());
        self
    }

    fn read(&self) -> Result<Config, Faults> {
        Config::read(&self.told)
    }

    /// What is wrong, with the file's own place shown as `FILE`.
    fn faults(&self) -> Vec<String> {
        let file = self.dir.path().join("config.toml").display().to_string();
        self.read().unwrap_err().0.iter().map(|fault| fault.replace(&file, "FILE")).collect()
    }
}

fn fault(text: &str) -> String {
    Scene::new(text).faults().join("\n")
}

#[test]
fn the_demo_agent_is_always_there_and_others_join_it() {
    let config = Scene::new(
        "[agents.mine]\nkind = \"acp\"\ncommand = [\"my-agent\", \"--acp\"]\nenv = { A = \"1\" }\n",
    )
    .read()
    .unwrap();
    let agents = config.agents(Path::new("holdfast"));
    assert_eq!(agents.keys().collect::<Vec<_>>(), ["claude", "codex", "demo", "mine"]);
    assert_eq!(agents["mine"].command, ["my-agent", "--acp"]);
    assert_eq!(agents["claude"].named, Named::ByItsProgram);
    let named = Scene::new("[agents.claude]\nkind = \"claude\"\ncommand = [\"/opt/claude\"]\n");
    let agents = named.read().unwrap().agents(Path::new("holdfast"));
    assert_eq!(agents["claude"].command, ["/opt/claude"]);
    assert_eq!((agents["claude"].kind, agents["claude"].named), (AgentKind::Claude, Named::ByName));
    let own = "[agents.demo]\nkind = \"acp\"\ncommand = [\"x\"]\n";
    assert!(fault(own).contains("FILE:2: agents.demo"), "{}", fault(own));
}

#[test]
fn codex_needs_no_line_and_a_line_of_its_own_wins() {
    let agents = Scene::new("").read().unwrap().agents(Path::new("holdfast"));
    assert_eq!(agents["codex"].named, Named::ByItsProgram);
    assert_eq!(agents["codex"].command, ["codex"]);
    let own = "[agents.codex]\nkind = \"codex\"\ncommand = [\"/opt/codex\"]\n";
    let agents = Scene::new(own).read().unwrap().agents(Path::new("holdfast"));
    assert_eq!((&agents["codex"].kind, agents["codex"].named), (&AgentKind::Codex, Named::ByName));
    assert_eq!(agents["codex"].command, ["/opt/codex"]);
}

#[test]
fn what_is_not_known_is_refused_by_line_with_what_was_meant() {
    let text = "# first\n[idle]\nrelease-minuts = 3\n\n[agnets.x]\nkind = \"acp\"\n[zzz]\n";
    assert_eq!(
        Scene::new(text).faults(),
        [
            "FILE:3: unknown key \"idle.release-minuts\": did you mean \"release-minutes\"?",
            "FILE:5: unknown key \"agnets\": did you mean \"agents\"?",
            "FILE:7: unknown key \"zzz\": there are listen, data-dir, agents, environment, idle, log, metrics, keeper",
        ]
    );
    let text = "[agents.x]\nkind = \"acp\"\ncomand = [\"a\"]\n";
    assert_eq!(fault(text), "FILE:3: unknown key \"agents.x.comand\": did you mean \"command\"?");
}

#[test]
fn what_cannot_be_read_is_told_from_the_top() {
    let text = "[idle]\nrelease-minutes =\n[agents.x]\nkind = \"acp\n";
    let faults = Scene::new(text).faults();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults[0].starts_with("FILE:2: "), "{faults:?}");
    assert!(faults[1].starts_with("FILE:4: "), "{faults:?}");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, says) in [
        ("[idle]\nrelease-minutes = \"x\"\n", "FILE:2: invalid type"),
        ("[idle\n", "FILE:1: "),
        ("[idle]\nrelease-minutes = -1\n", "FILE:2: idle.release-minutes is a number"),
        ("[idle]\nceiling-minutes = inf\n", "FILE:2: idle.ceiling-minutes is a number"),
        ("[keeper]\nspool-mib = 1\n", "FILE:2: keeper.spool-mib is a number"),
        ("[keeper]\nhost-gone-days = 0\n", "FILE:2: keeper.host-gone-days is a number"),
        ("listen = \"nowhere\"\n", "FILE:1: listen is HOST:PORT"),
        ("data-dir = \"/elsewhere\"\n", ""),
        ("[log]\nfilter = \"a=b=c\"\n", "FILE:2: log.filter cannot be read"),
        ("[log]\nformat = \"xml\"\n", "FILE:2: unknown variant `xml`"),
        ("[agents.x]\nkind = \"acp\"\ncommand = []\n", "FILE:3: agents.x.command is empty"),
        ("[agents.x]\nkind = \"acp\"\n", "FILE:1: missing field `command`"),
        ("[agents.x]\nkind = \"other\"\ncommand = [\"a\"]\n", "FILE:2: unknown variant `other`"),
        (
            "[agents.x]\nkind = \"acp\"\ncommand = [\"a\"]\n[agents.x.env]\n\"A=B\" = \"1\"\n",
            "FILE:5: agents.x.env",
        ),
    ] {
        if says.is_empty() {
            // The command line names the data directory here, and is before the file.
            assert!(Scene::new(text).read().is_ok(), "{text}");
            continue;
        }
        assert!(fault(text).starts_with(says), "{text}: {}", fault(text));
    }
    let scene = Scene::new("").var("HOLDFAST_IDLE_RELEASE_MINUTES", "soon");
    let says = "HOLDFAST_IDLE_RELEASE_MINUTES: idle.release-minutes is a number, not \"soon\"";
    assert_eq!(scene.faults(), [says]);
    let scene = Scene::new("").var("HOLDFAST_LISTEN", "here");
    assert!(scene.faults()[0].starts_with("HOLDFAST_LISTEN: listen is"), "{:?}", scene.faults());
}

#[test]
fn each_value_says_where_it_comes_from_and_the_nearest_wins() {
    let text = "listen = \"127.0.0.1:1\"\n\n[idle]\nrelease-minutes = 1\nceiling-minutes = 2\n\
                [agents.\"a.b\"]\nkind = \"acp\"\ncommand = [\"a\"]\nenv = { KEY = \"s3cret\" }\n";
    let mut scene = Scene::new(text)
        .var("HOLDFAST_IDLE_CEILING_MINUTES", "7")
        .var("HOLDFAST_IDLE_RELEASE_MINUTES", "")
        .var("HOLDFAST_LISTEN", "127.0.0.1:2");
    scene.told.listen = Some("127.0.0.1:3".to_owned());
    let config = scene.read().unwrap();
    assert_eq!(config.listen, "127.0.0.1:3".parse().unwrap());
    assert_eq!(config.release_after(), Some(60_000_000));
    assert_eq!(config.ceiling_after(), Some(7 * 60_000_000));
    let file = scene.dir.path().join("config.toml").display().to_string();
    let shown: Vec<String> = config
        .list()
        .iter()
        .map(|line| format!("{} = {} ({})", line.key, line.value, line.origin))
        .map(|line| line.replace(&file, "FILE"))
        .filter(|line| !line.starts_with("data-dir"))
        .collect();
    assert_eq!(
        shown,
        [
            "listen = \"127.0.0.1:3\" (--listen)",
            "agents.a.b.kind = \"acp\" (FILE:7)",
            "agents.a.b.command = [\"a\"] (FILE:8)",
            "agents.a.b.env.KEY = \"(set)\" (FILE:9)",
            "environment.login-shell = true (default)",
            "idle.release-minutes = 1.0 (FILE:4)",
            "idle.ceiling-minutes = 7.0 (HOLDFAST_IDLE_CEILING_MINUTES)",
            "log.format = \"text\" (default)",
            "log.filter = \"info\" (default)",
            "metrics.open = false (default)",
            "keeper.spool-mib = 1024 (default)",
            "keeper.host-gone-days = 7.0 (default)",
        ]
    );
    let json = serde_json::to_value(config.list()).unwrap();
    let line = json.as_array().unwrap().iter().find(|line| line["key"] == "listen").unwrap();
    assert_eq!(line["origin"], json!({ "from": "command_line", "name": "--listen" }));
    assert!(!json.to_string().contains("s3cret"));
}

#[test]
fn a_misspelt_variable_is_noted() {
    let scene =
        Scene::new("").var("HOLDFAST_IDLE_RELEASE_MINUTS", "3").var("HOLDFAST_DEMO_DIR", "x");
    assert_eq!(
        scene.read().unwrap().notes,
        ["HOLDFAST_IDLE_RELEASE_MINUTS sets nothing: did you mean HOLDFAST_IDLE_RELEASE_MINUTES?"]
    );
}

#[test]
fn zero_minutes_release_nobody() {
    let config = Scene::new("[idle]\nrelease-minutes = 0\n").read().unwrap();
    assert_eq!((config.release_after(), config.ceiling_after()), (None, None));
    let config = Scene::new("").read().unwrap();
    assert_eq!(config.release_after(), Some(IDLE_RELEASE_MICROS));
    assert_eq!(config.spool_bytes(), holdfast_keeper::limits::SPOOL_BYTES_MAX_DEFAULT);
    assert_eq!(config.host_gone(), holdfast_keeper::limits::HOST_GONE_MAX);
}

#[test]
fn the_file_is_looked_for_where_it_is_documented() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    let mut told = Told::default();
    told.environment.insert("HOME".to_owned(), home.into());
    let usual = home.join(".local/share/holdfast");
    let config = Config::read(&told).unwrap();
    assert_eq!((&config.file, &config.data_dir), (&usual.join("config.toml"), &usual));
    assert!(!config.is_there);

    let xdg = home.join(".config/holdfast");
    std::fs::create_dir_all(&xdg).unwrap();
    std::fs::write(xdg.join("config.toml"), "data-dir = \"~/chats\"\n").unwrap();
    let config = Config::read(&told).unwrap();
    assert_eq!((&config.file, config.data_dir), (&xdg.join("config.toml"), home.join("chats")));

    // A data directory that is named has its own.
    told.environment.insert("HOLDFAST_DATA_DIR".to_owned(), home.join("other").into());
    let config = Config::read(&told).unwrap();
    assert_eq!(config.file, home.join("other/config.toml"));
    assert_eq!(config.data_dir, home.join("other"));

    // One that is named is read, and has to be there.
    told.environment.insert("HOLDFAST_CONFIG".to_owned(), home.join("none.toml").into());
    assert!(Config::read(&told).unwrap_err().to_string().contains("none.toml"));
    told.config = Some(xdg.join("config.toml"));
    assert_eq!(Config::read(&told).unwrap().data_dir, home.join("other"), "nearer than the file");

    told = Told { environment: told.environment, ..Told::default() };
    told.environment.retain(|name, _| name == "HOME");
    std::fs::remove_file(xdg.join("config.toml")).unwrap();
    std::fs::create_dir_all(&usual).unwrap();
    std::fs::write(usual.join("config.toml"), "\ndata-dir = \"/elsewhere\"\n").unwrap();
    let text = Config::read(&told).unwrap_err().to_string();
    assert!(text.contains("config.toml:2: data-dir has no meaning"), "{text}");
}

/// A file of the repository.
fn kept(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).unwrap()
}

#[test]
fn the_documentation_is_what_the_code_says() {
    let text = kept("docs/config.md");
    let (_, keys) = text.split_once("## Keys\n\n").unwrap();
    let told = "write what `holdfast config keys` prints below \"## Keys\" of docs/config.md";
    assert_eq!(keys.trim(), markdown::keys().trim(), "{told}");
}

#[test]
fn the_schema_is_kept_and_takes_what_is_documented() {
    let schema: serde_json::Value = serde_json::from_str(&kept("docs/config.schema.json")).unwrap();
    let told = "write what `holdfast config schema` prints to docs/config.schema.json";
    assert_eq!(schema, super::schema(), "{told}");
}
