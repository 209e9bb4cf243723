//! What the real app-server of Codex said, read by the codec: nothing of it is unrecognised, every
//! message has its proof and every turn its end, and a codec that is restored after each line says
//! the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod talks;

use std::collections::BTreeMap;

use holdfast_core::item::{Body, CallState, Field, ItemKind, Role};
use holdfast_core::provider::{ProviderEvent, TurnEnd};
use talks::{Life, all, lives, read};

fn events(life: &Life) -> Vec<ProviderEvent> {
    life.play().into_iter().flat_map(|(_, events)| events).collect()
}

#[test]
fn nothing_of_them_is_unrecognised() {
    for (name, life) in all() {
        for (line, events) in life.play() {
            for event in events {
                if let ProviderEvent::ItemOpened { body: Body::Unrecognised { reason }, .. } = event
                {
                    panic!("{name}: {reason}: {line}");
                }
            }
        }
    }
}

#[test]
fn every_message_has_its_proof_and_every_turn_its_end() {
    for (name, life) in all() {
        let told = life.told();
        let events = events(&life);
        let count = |wanted: fn(&&ProviderEvent) -> bool| events.iter().filter(wanted).count();
        assert_eq!(count(|it| matches!(it, ProviderEvent::Ready { .. })), 1, "{name}");
        let taken = count(|it| matches!(it, ProviderEvent::MessageTaken { .. }));
        let ended = count(|it| matches!(it, ProviderEvent::TurnEnded { .. }));
        assert_eq!((taken, ended), (told.taken, told.ended), "{name}");
    }
}

#[test]
fn a_restored_codec_says_the_same() {
    for (name, life) in all() {
        assert_eq!(life.play(), life.play_restoring(), "{name}");
    }
}

#[test]
fn the_agents_words_and_outputs_are_all_there_once() {
    for (name, life) in all() {
        let mut kinds = BTreeMap::new();
        let mut lengths = BTreeMap::new();
        let (mut said, mut outputs) = (BTreeMap::<u32, String>::new(), BTreeMap::new());
        for event in events(&life) {
            match event {
                ProviderEvent::ItemOpened { item, kind, role, body } => {
                    // What subagents say and do is shown within the calls that began them.
                    let tool = match &body {
                        Body::Call(call) if call.within.is_none() => call.tool_kind.clone(),
                        Body::Text => String::new(),
                        _ => "another's".to_owned(),
                    };
                    let before = kinds.insert(item, (kind, role, tool));
                    assert_eq!(before, None, "{name}: item {item} again");
                }
                ProviderEvent::ItemText { item, field, at, text } => {
                    let length = lengths.entry((item, field)).or_insert(0);
                    assert_eq!(at, *length, "{name}: item {item}");
                    *length += text.len() as u64;
                    let (kind, role, tool) = &kinds[&item];
                    match (kind, field) {
                        (ItemKind::Message, Field::Text)
                            if *role == Role::Agent && tool.is_empty() =>
                        {
                            said.entry(item).or_default().push_str(&text);
                        }
                        (ItemKind::ToolCall, Field::Output)
                            if !matches!(tool.as_str(), "agent" | "edit" | "another's") =>
                        {
                            outputs.entry(item).or_insert_with(String::new).push_str(&text);
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        let told = life.told();
        assert_eq!(said.into_values().collect::<String>(), told.said, "{name}");
        // The beginning of an output may come last, below a line that says so.
        let in_order = |output: String| match output.split_once("\n[the output above began with]\n")
        {
            Some((rest, began)) => format!("{began}{rest}"),
            None => output,
        };
        let outputs: Vec<String> = outputs.into_values().map(in_order).collect();
        for whole in told.outputs.iter().filter(|whole| !whole.is_empty()) {
            let times = outputs.iter().filter(|output| *output == whole).count();
            assert_eq!(times, 1, "{name}: {whole:?} in {outputs:?}");
        }
    }
}

/// What a talk comes to, in short words.
fn story(name: &str, life: usize) -> Vec<String> {
    let events = events(&lives(&read(name))[life]);
    let mut names = BTreeMap::new();
    let told = events.iter().filter_map(|event| {
        Some(match event {
            ProviderEvent::MessageTaken { .. } => "taken".to_owned(),
            ProviderEvent::MessageFailed { proof, text, .. } => format!("refused {proof:?} {text}"),
            ProviderEvent::Stirred => "stirred".to_owned(),
            ProviderEvent::TurnEnded { how: TurnEnd::Failed, text, .. } => {
                format!("failed: {}", text.as_deref().unwrap_or_default())
            }
            ProviderEvent::TurnEnded { how, .. } => format!("{how:?}"),
            ProviderEvent::PromptOpened { asked, .. } => {
                let ids: Vec<&str> = asked.options.iter().map(|it| it.id.as_str()).collect();
                format!("{:?} {} {}", asked.kind, asked.label, ids.join(" ")).trim_end().to_owned()
            }
            ProviderEvent::AnswerTaken { .. } => "answer taken".to_owned(),
            ProviderEvent::PromptGone { .. } => "prompt gone".to_owned(),
            ProviderEvent::TaskStarted { task, kind, label, foreground } => {
                names.insert(*task, label.clone());
                assert!(!foreground);
                format!("{kind:?} task: {label}")
            }
            ProviderEvent::TaskEnded { task, how } => format!("{}: {how:?}", names[task]),
            ProviderEvent::ItemOpened { kind: ItemKind::Compaction, .. } => "compaction".to_owned(),
            ProviderEvent::ItemOpened {
                kind: ItemKind::Plan,
                body: Body::Plan { entries },
                ..
            } => {
                let entries = entries.iter().map(|it| format!("{} {}", it.text, it.state));
                format!("plan: {}", entries.collect::<Vec<_>>().join(", "))
            }
            ProviderEvent::ItemOpened { kind: ItemKind::Thinking, .. } => "thinks".to_owned(),
            ProviderEvent::ItemOpened { body: Body::Within { call }, .. } => {
                format!("within {call}: says")
            }
            ProviderEvent::ItemOpened { body: Body::Notice(notice), .. } => format!("{notice:?}"),
            ProviderEvent::ItemOpened { role: Role::User, .. } => "somebody says".to_owned(),
            ProviderEvent::ItemOpened { item, body: Body::Call(call), .. } => match call.within {
                Some(within) => format!("within {within}: call {} {}", call.tool_kind, call.name),
                None if call.tool_kind == "agent" => {
                    format!("i1.{item} call agent {}", call.name)
                }
                None => format!("call {} {}", call.tool_kind, call.name),
            },
            ProviderEvent::ItemChanged { body: Body::Call(call), .. } => match call.task {
                Some(task) if call.state == CallState::Running => {
                    format!("{} is {task}", call.name)
                }
                Some(_) | None => format!("{:?} {}", call.state, call.name),
            },
            ProviderEvent::Titled { title } => format!("titled {title}"),
            _ => return None,
        })
    });
    told.collect()
}

#[test]
fn a_command_is_allowed_and_refused() {
    let ask = "accept acceptForSession rule-0 decline cancel";
    assert_eq!(
        story("approve", 0)[..18],
        [
            "taken",
            "call execute echo hi > f.txt; cat f.txt",
            &format!("Approval echo hi > f.txt; cat f.txt {ask}"),
            "answer taken",
            "Completed echo hi > f.txt; cat f.txt",
            "Completed",
            "taken",
            "call execute touch g.txt",
            &format!("Approval touch g.txt {ask}"),
            "answer taken",
            "Failed touch g.txt",
            "Completed",
            "taken",
            "call execute touch h.txt",
            &format!("Approval touch h.txt {ask}"),
            "answer taken",
            "Failed touch h.txt",
            "Interrupted",
        ]
    );
}

#[test]
fn commands_that_outlive_their_turn_are_tasks() {
    let ticks = "for i in 1 2 3 4 5 6; do echo tick $i; sleep 1; done";
    assert_eq!(
        story("bg", 0),
        [
            "taken",
            &format!("call execute {ticks}"),
            &format!("Command task: {ticks}"),
            &format!("{ticks} is k1.1"),
            "Completed",
            &format!("Completed {ticks}"),
            &format!("{ticks}: Completed"),
            "taken",
            "call execute cat",
            "Command task: cat",
            "cat is k1.2",
            "Completed",
            "Failed cat",
            "cat: Stopped",
            "taken",
            "call execute sleep 100",
            "Command task: sleep 100",
            "sleep 100 is k1.3",
            "Completed",
            "taken",
            "Completed",
            "Failed sleep 100",
            "sleep 100: Stopped",
            "taken",
            "call execute sleep 200",
            "Command task: sleep 200",
            "sleep 200 is k1.4",
            "Interrupted",
        ]
    );
}

/// In the first version of Codex's tools for subagents, and in the second.
#[test]
fn subagents_are_tasks() {
    let (first, slow) = (
        "[[bash echo from child]] [[say child says done]]",
        "[[slow 4]] [[say slow child finished]]",
    );
    assert_eq!(
        story("spawn", 0),
        [
            "taken",
            &format!("i1.1 call agent {first}"),
            &format!("Completed {first}"),
            &format!("Agent task: {first}"),
            "i1.2 call agent Wait for subagents",
            "within i1.1: call execute echo from child",
            "Completed echo from child",
            "within i1.1: says",
            &format!("{first}: Completed"),
            "Completed Wait for subagents",
            "Completed",
            "taken",
            "Completed",
            "taken",
            &format!("i1.7 call agent {slow}"),
            &format!("Completed {slow}"),
            &format!("Agent task: {slow}"),
            "Completed",
            "within i1.7: says",
            &format!("{slow}: Completed"),
        ]
    );
    let second = story("spawn2", 0);
    assert_eq!(
        second[1..],
        [
            "i1.1 call agent Subagent task_1",
            "Completed Subagent task_1",
            "Agent task: task_1",
            "i1.2 call agent Wait for subagents",
            "within i1.1: call execute echo from child",
            "Completed echo from child",
            "within i1.1: says",
            "task_1: Completed",
            "Completed Wait for subagents",
            "Completed",
            "taken",
            "i1.6 call agent Subagent task_2",
            "Completed Subagent task_2",
            "Agent task: task_2",
            "Completed",
            "within i1.6: says",
            "task_2: Completed",
        ]
    );
}

#[test]
fn a_turn_is_cut_short() {
    assert_eq!(
        story("interrupt", 0),
        [
            "taken",
            "Interrupted",
            "taken",
            "call execute sleep 30; echo x",
            "Command task: sleep 30; echo x",
            "sleep 30; echo x is k1.1",
            "Interrupted",
            // A thread that the recorded client began beside the chat's own.
            "Agent task: Subagent",
            "Approval touch zz accept acceptForSession rule-0 decline cancel",
            "prompt gone",
            "Subagent: Stopped",
            "taken",
            "Completed",
        ]
    );
    // What the recorded client steered with and queued at the agent is no message of the host.
    assert_eq!(
        story("steer", 0),
        [
            "taken",
            "somebody says",
            "Completed",
            "taken",
            "call execute sleep 2; echo slept",
            "Completed sleep 2; echo slept",
            "somebody says",
            "Completed",
            "taken",
            "taken",
            "Completed",
            "taken",
            "Completed",
            "stirred",
            "somebody says",
            "Completed",
            "stirred",
            "somebody says",
            "Completed"
        ]
    );
}

#[test]
fn questions_plans_and_patches() {
    assert_eq!(
        story("ask", 0),
        [
            "taken",
            "Question Which colour?",
            "answer taken",
            "Completed",
            "taken",
            "Question Plan mode colour?",
            "answer taken",
            "Completed",
            "taken",
            "plan: one in_progress, two pending, three pending",
            "Completed",
            "taken",
            "Question Abandoned?",
            "prompt gone",
            "Interrupted",
        ]
    );
    assert_eq!(
        story("patch", 0),
        [
            "taken",
            "call edit Add hello.txt",
            "Approval Add hello.txt accept acceptForSession decline cancel",
            "answer taken",
            "Completed Add hello.txt",
            "Completed",
            "taken",
            "call edit Edit hello.txt",
            "Approval Edit hello.txt accept acceptForSession decline cancel",
            "answer taken",
            "Failed Edit hello.txt",
            "Completed",
            "taken",
            "call edit Edit hello.txt",
            "Approval Edit hello.txt accept acceptForSession decline cancel",
            "answer taken",
            "Completed Edit hello.txt",
            "Completed",
            "taken",
            "call edit Edit hello.txt",
            "Completed Edit hello.txt",
            "Completed"
        ]
    );
}

#[test]
fn errors_of_the_model_fail_the_turn_and_say_why() {
    let ends = story("errors", 0).into_iter().filter(|word| word != "taken");
    assert_eq!(
        ends.collect::<Vec<_>>(),
        [
            "Completed",
            "Retrying { attempt: 1, of: 1 }",
            "failed: We’re currently experiencing high demand, which may cause temporary errors.",
            "failed: scripted error 400",
            "Retrying { attempt: 1, of: 1 }",
            "failed: unexpected status 401 Unauthorized: scripted error 401, url: http://127.0.0.1:43037/v1/responses",
            "failed: exceeded retry limit, last status: 429 Too Many Requests",
            "Retrying { attempt: 1, of: 1 }",
            "failed: stream disconnected before completion: Transport error: network error: error decoding response body",
            "Retrying { attempt: 1, of: 1 }",
            "failed: rate limit exceeded: scripted failure rate_limit_exceeded",
            "failed: Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
            "compaction",
            "failed: Quota exceeded. Check your plan and billing details.",
            "failed: Selected model is at capacity. Please try a different model.",
            "Completed",
        ]
    );
    assert_eq!(story("nokey", 0)[1], "failed: Missing environment variable: `SCRIPTED_KEY`.");
}

#[test]
fn the_agent_names_the_chat_and_shortens_its_memory() {
    let plain = ["taken", "thinks", "Completed", "taken", "Completed", "titled My name"];
    assert_eq!(story("plain", 0), plain);
    let fork = story("fork", 0);
    assert_eq!(fork[fork.len() - 3..], ["stirred", "compaction", "Completed"]);
}

/// The thread was cut short in a command; brought back it says nothing of it, and goes on.
#[test]
fn a_thread_that_is_brought_back_goes_on() {
    for name in ["kill-kill9-tool", "kill-kill9-text", "kill-term-tool", "kill-int-text"] {
        assert_eq!(story(name, 1), ["taken", "Completed"], "{name}");
    }
}
