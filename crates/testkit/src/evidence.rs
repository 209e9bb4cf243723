//! Reading the demo agent's own log: what it saw and said, told from outside the host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The evidence file of one or more demo agents.
#[derive(Clone, Debug)]
pub struct Evidence {
    path: PathBuf,
}

impl Evidence {
    /// The file at this path; it need not be there yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All events so far. A torn last line is left out.
    pub fn events(&self) -> Vec<Value> {
        let text = std::fs::read(&self.path).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// The prompts that agents saw, in order.
    pub fn prompts(&self) -> Vec<String> {
        let events = self.events();
        let prompts = events.iter().filter_map(|event| event["prompt"].as_str());
        prompts.map(str::to_owned).collect()
    }

    /// How often an agent saw exactly this prompt.
    pub fn seen(&self, prompt: &str) -> usize {
        self.prompts().iter().filter(|seen| *seen == prompt).count()
    }

    /// The pids of the agents that wrote, each once, in order of their first word.
    pub fn pids(&self) -> Vec<u64> {
        let mut pids = Vec::new();
        for pid in self.events().iter().filter_map(|event| event["pid"].as_u64()) {
            if !pids.contains(&pid) {
                pids.push(pid);
            }
        }
        pids
    }

    /// The text that agents provably wrote as chunks of their messages, by the log of what `write`
    /// took.
    pub fn text_written(&self) -> String {
        let mut text = String::new();
        for line in self.events().iter().filter_map(|event| event["wrote"].as_str()) {
            let Ok(frame) = serde_json::from_str::<Value>(line) else { continue };
            let update = &frame["params"]["update"];
            if update["sessionUpdate"] == "agent_message_chunk" {
                text.push_str(update["content"]["text"].as_str().unwrap_or_default());
            }
        }
        text
    }

    /// The sessions in which agents saw prompts of which this holds, each once.
    pub fn sessions(&self, of: impl Fn(&str) -> bool) -> Vec<String> {
        let mut sessions: Vec<String> = Vec::new();
        for event in self.events() {
            let (Some(prompt), Some(id)) = (event["prompt"].as_str(), event["session"].as_str())
            else {
                continue;
            };
            if of(prompt) && !sessions.iter().any(|known| known == id) {
                sessions.push(id.to_owned());
            }
        }
        sessions
    }

    /// What the agents of these sessions set out to say, one text for each process, in the order of
    /// their first words. History that a process tells again is not among it.
    pub fn said_in(&self, sessions: &[String]) -> Vec<String> {
        let mut tellers: Vec<(u64, String)> = Vec::new();
        let mut first: BTreeMap<String, u64> = BTreeMap::new();
        for event in self.events() {
            let (Some(pid), Some(line)) = (event["pid"].as_u64(), event["writing"].as_str()) else {
                continue;
            };
            let Ok(frame) = serde_json::from_str::<Value>(line) else { continue };
            let update = &frame["params"]["update"];
            let session = frame["params"]["sessionId"].as_str().unwrap_or_default();
            if update["sessionUpdate"] != "agent_message_chunk"
                || !sessions.iter().any(|wanted| wanted == session)
            {
                continue;
            }
            let message = update["messageId"].as_str().unwrap_or_default().to_owned();
            if *first.entry(message).or_insert(pid) != pid {
                continue;
            }
            let text = update["content"]["text"].as_str().unwrap_or_default();
            match tellers.iter_mut().find(|(teller, _)| *teller == pid) {
                Some((_, said)) => said.push_str(text),
                None => tellers.push((pid, text.to_owned())),
            }
        }
        tellers.into_iter().map(|(_, said)| said).collect()
    }

    /// The answers that agents got to what they asked, in order.
    pub fn answers(&self) -> Vec<Value> {
        let events = self.events();
        events.iter().filter(|event| event.get("answer").is_some()).cloned().collect()
    }
}
