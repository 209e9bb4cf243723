//! Work beside the chat's own turn: terminals, subagents, goals.

use super::*;

fn listed(frame: u64, terminals: &[(&str, &str)]) -> String {
    let data: Vec<Value> = terminals
        .iter()
        .map(|(item, process)| json!({ "itemId": item, "processId": process, "command": item }))
        .collect();
    json!({ "id": frame, "result": { "data": data, "nextCursor": null } }).to_string()
}

fn stop(chat: &mut Chat, task: u32) -> Result<Value, EncodeError> {
    let out = Outgoing::StopTask { task: TaskId::new(1, task) };
    let frame = chat.issue(&out);
    chat.sends(frame, &out)
}

#[test]
fn a_command_that_outlives_its_turn_is_a_task_until_it_ends() {
    let mut chat = Chat::working();
    let _ = chat.said(&command("started", "serve", &json!({ "processId": "17" })));
    let told = chat.said(ENDED);
    assert_eq!(
        told,
        "task 1 Command serve\n1 now serve Running\nwants thread/backgroundTerminals/list\nturn Completed -\n"
    );
    assert_eq!(chat.said(&listed(6, &[("serve", "17")])), "", "it is left running");
    let sent = stop(&mut chat, 1).unwrap();
    assert_eq!(sent["method"], "thread/backgroundTerminals/terminate");
    assert_eq!(sent["params"], json!({ "threadId": "T", "processId": "17" }));
    let done = command("completed", "serve", &json!({ "status": "failed", "exitCode": -1 }));
    assert_eq!(chat.said(&done), "1 now serve Failed\n1 closed\ntask 1 Stopped\n");
    assert!(matches!(stop(&mut chat, 1), Err(EncodeError::TaskGone { task: 1 })));
}

#[test]
fn the_end_of_a_turn_that_is_told_again_stops_nothing() {
    let mut chat = Chat::working();
    let _ = chat.told(&[&command("started", "serve", &json!({})), ENDED]);
    assert_eq!(chat.said(INTERRUPTED), "turn Interrupted -\n");
    assert_eq!(chat.said(&listed(6, &[("serve", "17")])), "");
}

#[test]
fn a_command_ends_as_a_task_as_it_ends_as_a_call() {
    for (more, how) in [
        (json!({ "status": "completed", "exitCode": 0 }), "Completed"),
        (json!({ "status": "failed", "exitCode": 3 }), "Failed"),
        (json!({ "status": "failed", "exitCode": -1 }), "Stopped"),
    ] {
        let mut chat = Chat::working();
        let _ = chat.told(&[&command("started", "x", &json!({})), ENDED]);
        let told = chat.said(&command("completed", "x", &more));
        assert!(told.ends_with(&format!("task 1 {how}\n")), "{more}: {told}");
    }
}

#[test]
fn a_turn_that_was_stopped_stops_its_commands_and_no_earlier_ones() {
    let mut chat = Chat::working();
    let _ =
        chat.told(&[&command("started", "old", &json!({})), ENDED, &listed(6, &[("old", "1")])]);
    let frame = chat.message(8);
    let _ = chat.written(frame);
    let next = |line: &str| line.replace("\"U\"", "\"V\"");
    let _ = chat.said(&next(STARTED));
    let _ = chat.said(&next(&command("started", "new", &json!({}))));
    let told = chat.said(&next(INTERRUPTED));
    assert!(told.contains("task 2 Command new\n"), "{told}");
    let events = chat.line(&listed(8, &[("old", "1"), ("new", "2")]));
    assert_eq!(words(&events), "wants thread/backgroundTerminals/terminate\n", "once");
    let params = format!("{events:?}");
    assert!(params.contains(r#"\"processId\":\"2\""#), "{params}");
    assert!(!chat.said(&listed(99, &[("new", "2")])).contains("terminate"));
}

#[test]
fn a_command_that_nobody_allowed_never_ran() {
    let mut chat = Chat::working();
    let _ = chat.told(&[&command("started", "c1", &json!({})), ASK]);
    let told = chat.said(INTERRUPTED);
    assert_eq!(told, "1 now c1 Unknown\n1 closed\nprompt 1 gone\nturn Interrupted -\n");
    // One that was allowed runs.
    let mut chat = Chat::working();
    let _ = chat.told(&[&command("started", "c1", &json!({})), ASK]);
    let option = "accept".to_owned();
    let frame = chat.answer(1, Answer::Option { option, text: None });
    let _ = chat.written(frame);
    assert!(chat.said(INTERRUPTED).contains("task 1 Command c1\n"));
}

#[test]
fn any_other_call_ends_with_its_turn() {
    let call = item("started", &json!({ "type": "webSearch", "id": "w", "query": "q" }));
    let told = Chat::working().told(&[&call, ENDED]);
    assert!(told.ends_with("1 now q Unknown\n1 closed\nturn Completed -\n"), "{told}");
}

fn turn_of(thread: &str, method: &str, status: &str) -> String {
    json!({ "method": method, "params": { "threadId": thread, "turn": { "id": "V", "status": status } } })
        .to_string()
}

fn spawned(thread: &str) -> String {
    item(
        "completed",
        &json!({ "type": "collabAgentToolCall", "id": "s", "tool": "spawnAgent",
        "status": "completed", "prompt": "look around", "receiverThreadIds": [thread],
        "agentsStates": { thread: { "status": "pendingInit" } } }),
    )
}

#[test]
fn a_subagent_is_a_task_while_its_thread_works() {
    let mut chat = Chat::working();
    let _ = chat.said(&spawned("X"));
    let say = item_of(
        "X",
        "V",
        "completed",
        &json!({ "type": "agentMessage", "id": "m", "text": "found" }),
    );
    let run = item_of(
        "X",
        "V",
        "completed",
        &json!({ "type": "commandExecution", "id": "k", "command": "ls", "status": "completed" }),
    );
    let told = chat.told(&[&turn_of("X", "turn/started", "inProgress"), &say, &run]);
    assert!(told.starts_with("task 1 Agent look around\n2 opened Message within i1.1\n"), "{told}");
    assert!(told.contains("3 call ls Running\n"), "{told}");
    let sent = stop(&mut chat, 1).unwrap();
    assert_eq!(sent["params"], json!({ "threadId": "X", "turnId": "V" }));
    assert_eq!(sent["method"], "turn/interrupt");
    // It outlives the turn of the chat.
    assert_eq!(chat.said(ENDED), "turn Completed -\n");
    assert_eq!(chat.said(&turn_of("X", "turn/completed", "completed")), "task 1 Completed\n");
    // It may begin again.
    assert_eq!(
        chat.said(&turn_of("X", "turn/started", "inProgress")),
        "task 2 Agent look around\n"
    );
    assert_eq!(chat.said(&turn_of("X", "turn/completed", "interrupted")), "task 2 Stopped\n");
}

#[test]
fn a_subagent_ends_by_whatever_says_so_first() {
    let activity = |kind: &str| {
        item(
            "completed",
            &json!({ "type": "subAgentActivity", "id": kind, "kind": kind,
            "agentThreadId": "X", "agentPath": "/main/task_1" }),
        )
    };
    let closed = item(
        "completed",
        &json!({ "type": "collabAgentToolCall", "id": "w", "tool": "closeAgent",
        "status": "completed", "agentsStates": { "X": { "status": "shutdown" } } }),
    );
    let gone = r#"{"method":"thread/closed","params":{"threadId":"X"}}"#.to_owned();
    let lost = r#"{"method":"thread/status/changed","params":{"threadId":"X","status":{"type":"systemError"}}}"#.to_owned();
    for (end, how) in [
        (activity("completed"), "Completed"),
        (activity("interrupted"), "Stopped"),
        (closed, "Stopped"),
        (gone, "Stopped"),
        (lost, "Failed"),
        (turn_of("X", "turn/completed", "failed"), "Failed"),
    ] {
        let mut chat = Chat::working();
        let _ = chat.said(&activity("started"));
        assert_eq!(chat.said(&turn_of("X", "turn/started", "")), "task 1 Agent task_1\n");
        let told = chat.said(&end);
        assert!(told.contains(&format!("task 1 {how}\n")), "{end}: {told}");
        let again = chat.said(&turn_of("X", "turn/completed", "completed"));
        assert!(!again.contains("task"), "it ends once: {again}");
    }
}

#[test]
fn nothing_is_shown_of_a_thread_that_no_call_began() {
    let say =
        item_of("Y", "V", "completed", &json!({ "type": "agentMessage", "id": "m", "text": "x" }));
    let delta = SAY.replace("\"T\"", "\"Y\"");
    let mut chat = Chat::working();
    let told = chat.told(&[&turn_of("Y", "turn/started", ""), &say, &delta]);
    assert_eq!(told, "task 1 Agent Subagent\n", "but it works");
}

#[test]
fn a_goal_is_a_task_as_long_as_the_agent_goes_on_with_it() {
    let goal = |status: &str| {
        json!({ "method": "thread/goal/updated", "params": { "threadId": "T",
            "goal": { "objective": "win", "status": status } } })
        .to_string()
    };
    let cleared = r#"{"method":"thread/goal/cleared","params":{"threadId":"T"}}"#.to_owned();
    for (end, how) in
        [(goal("complete"), "Completed"), (goal("paused"), "Stopped"), (cleared, "Stopped")]
    {
        let mut chat = Chat::ready();
        assert_eq!(chat.told(&[&goal("active"), &goal("active")]), "task 1 Monitor Goal: win\n");
        let sent = stop(&mut chat, 1).unwrap();
        assert_eq!(
            (&sent["method"], &sent["params"]),
            (&json!("thread/goal/clear"), &json!({ "threadId": "T" }))
        );
        assert_eq!(chat.said(&end), format!("task 1 {how}\n"));
    }
}
