use holdfast_core::ids::TaskId;

use super::*;

fn started(more: &str) -> String {
    format!(
        r#"{{"type":"system","subtype":"task_started","task_id":"b1","tool_use_id":"t1","description":"build","task_type":"local_bash"{more}}}"#
    )
}

fn notified(status: &str) -> String {
    format!(
        r#"{{"type":"system","subtype":"task_notification","task_id":"b1","status":"{status}"}}"#
    )
}

fn updated(patch: &str) -> String {
    format!(r#"{{"type":"system","subtype":"task_updated","task_id":"b1","patch":{{{patch}}}}}"#)
}

#[test]
fn work_ends_by_whichever_word_comes_and_once() {
    for (first, second, how) in [
        (updated(r#""status":"completed""#), notified("completed"), "Completed"),
        (notified("completed"), updated(r#""status":"completed""#), "Completed"),
        (notified("failed"), notified("failed"), "Failed"),
        (updated(r#""status":"killed""#), notified("stopped"), "Stopped"),
    ] {
        let mut chat = Chat::working();
        assert_eq!(chat.line(&started(r#","is_backgrounded":true"#)), "task 1 Command build\n");
        assert_eq!(chat.lines(&[&first, &second]), format!("task 1 {how}\n"));
    }
}

#[test]
fn the_kind_of_work_and_whether_the_turn_ends_it() {
    let told = |chat: &mut Chat, line: &str| {
        let events = chat.step(Inward::Line(line.as_bytes()));
        events.into_iter().find_map(|event| match event {
            ProviderEvent::TaskStarted { kind, foreground, .. } => {
                Some(format!("{kind:?} {foreground}"))
            }
            _ => None,
        })
    };
    for (tool, input, more, said) in [
        ("Bash", json!({}), r#","is_backgrounded":true"#, "Command false"),
        ("Bash", json!({}), r#","is_backgrounded":false"#, "Command true"),
        (
            "Bash",
            json!({}),
            r#","is_backgrounded":false,"owned_by_subagent":true"#,
            "Command false",
        ),
        ("Monitor", json!({}), r#","is_backgrounded":true"#, "Monitor false"),
        // Older versions do not say: the call does.
        ("Bash", json!({ "run_in_background": true }), "", "Command false"),
        ("Bash", json!({}), "", "Command true"),
    ] {
        let mut chat = Chat::working();
        chat.line(&calls("t1", tool, &input));
        assert_eq!(told(&mut chat, &started(more)).unwrap(), said, "{tool} {more}");
    }
    let mut chat = Chat::working();
    let agent = started("").replace("local_bash", "local_agent");
    assert!(told(&mut chat, &agent).unwrap().starts_with("Agent"));
    let mut chat = Chat::working();
    let odd = started("").replace("local_bash", "surprise");
    assert!(told(&mut chat, &odd).unwrap().starts_with("Unknown"));
}

#[test]
fn work_of_the_turn_ends_with_it_unless_it_goes_on_in_the_background() {
    let foreground = started(r#","is_backgrounded":false"#);
    let mut chat = Chat::working();
    chat.line(&foreground);
    assert_eq!(chat.line(ENDS), "task 1 Completed\nturn Completed -\n");
    let mut chat = Chat::working();
    chat.line(&foreground);
    assert_eq!(chat.line(&updated(r#""is_backgrounded":true"#)), "task 1 detached\n");
    assert_eq!(chat.line(ENDS), "turn Completed -\n");
}

#[test]
fn what_is_missing_among_all_that_runs_has_ended() {
    let roster = |tasks: &str| {
        format!(r#"{{"type":"system","subtype":"background_tasks_changed","tasks":[{tasks}]}}"#)
    };
    let mut chat = Chat::working();
    chat.lines(&[&roster(r#"{"task_id":"b1"}"#), &started(r#","is_backgrounded":true"#)]);
    assert_eq!(chat.line(&roster(r#"{"task_id":"b1"},{"task_id":"b2"}"#)), "");
    assert_eq!(chat.line(&roster("")), "task 1 Stopped\n");
    // What is not listed because it runs in the turn does not end by that.
    chat.line(&started(r#","is_backgrounded":false"#));
    assert_eq!(chat.line(&roster("")), "");
}

#[test]
fn a_call_knows_what_it_became() {
    let mut chat = Chat::working();
    chat.line(&calls("t1", "Bash", &json!({})));
    let events = chat.step(Inward::Line(started(r#","is_backgrounded":true"#).as_bytes()));
    let linked = events.iter().any(|event| match event {
        ProviderEvent::ItemChanged { body: holdfast_core::item::Body::Call(call), .. } => {
            call.task == Some(TaskId::new(1, 1))
        }
        _ => false,
    });
    assert!(linked, "{events:?}");
    let stop = |n| Outgoing::StopTask { task: TaskId::new(1, n) };
    assert_eq!(chat.encoded(&stop(1)).unwrap()["request"]["task_id"], "b1");
    assert!(matches!(chat.encoded(&stop(2)), Err(EncodeError::TaskGone { task: 2 })));
}

#[test]
fn a_wake_up_is_work_until_it_fires() {
    let mut chat = Chat::working();
    let armed = |id: &str| {
        let text = "Next wakeup scheduled for 10:50:00 (in 101s). If you owe";
        let block = json!({ "type": "tool_result", "tool_use_id": id, "content": text });
        let result = json!({ "scheduledFor": 7 });
        json!({ "type": "user", "message": { "content": [block] }, "tool_use_result": result })
            .to_string()
    };
    chat.line(&calls("t1", "ScheduleWakeup", &json!({ "delaySeconds": 60, "reason": "look" })));
    assert!(
        chat.line(&armed("t1"))
            .ends_with("task 1 Monitor Next wakeup scheduled for 10:50:00 (in 101s)\n")
    );
    // Another takes its place.
    chat.line(&calls("t2", "ScheduleWakeup", &json!({ "delaySeconds": 60 })));
    assert!(chat.line(&armed("t2")).contains("task 1 Stopped\ntask 2 Monitor"));
    chat.line(ENDS);
    let fires = r#"{"type":"command_lifecycle","command_uuid":"x","state":"started","wakeup_source":"loop_wakeup"}"#;
    assert_eq!(chat.line(fires), "task 2 Completed\n");

    let cron = |id: &str, tool: &str, result: &Value| {
        let block = json!({ "type": "tool_result", "tool_use_id": id, "content": "done" });
        let line =
            json!({ "type": "user", "message": { "content": [block] }, "tool_use_result": result });
        [calls(id, tool, &json!({})), line.to_string()]
    };
    let mut chat = Chat::working();
    let [call, result] =
        cron("c1", "CronCreate", &json!({ "id": "7", "humanSchedule": "every hour" }));
    assert!(chat.lines(&[&call, &result]).ends_with("task 1 Monitor Wakes up: every hour\n"));
    let [call, result] = cron("c2", "CronDelete", &json!({ "id": "7" }));
    assert!(chat.lines(&[&call, &result]).ends_with("task 1 Stopped\n"));
}
