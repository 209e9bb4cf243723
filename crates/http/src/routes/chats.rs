//! Chats: list, open, look, title, close, reopen, delete, interrupt.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use holdfast_core::ids::ChatId;
use holdfast_core::input::{Command, Leftovers, Reply};
use holdfast_core::limits::{
    CWD_BYTES_MAX, MESSAGE_BYTES_MAX, PROJECT_CHARS_MAX, SLOT_CHARS_MAX, TITLE_CHARS_MAX,
};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::query::QUERY_ROWS_MAX;
use holdfast_store::{ChatFilter, ChatRow};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::app::App;
use crate::extract::fields::Most;
use crate::extract::{At, Call, Fields, MessageBody, Params, PlainBody};
use crate::limits::{NAME_CHARS_MAX, PAGE_CHATS, PAGE_CHATS_MAX};
use crate::openapi::{Request, query, request};
use crate::port::{Caller, WantedChat};
use crate::routes::{Answer, chat, odd_reply, shown, unread};
use crate::wire::page::{Page, RowPage};
use crate::wire::row::{Leftover, OpenedRow, Row};

/// The pages of the store that one request looks through for what it is narrowed to.
const PAGES_LOOKED_THROUGH_MAX: usize = 10;

/// Which chats a list shows.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "declared; read as words")]
enum ListState {
    /// Open ones.
    Open,
    /// Closed ones.
    Closed,
    /// All.
    All,
}

query! {
    /// What a list is narrowed to.
    pub(super) struct ListQuery {
        /// Which chats; `open` where nothing is said.
        #[param(inline)]
        state: Option<ListState>,
        /// Words that the title, the last prompt, the project or the slot has.
        q: Option<String>,
        /// A folder.
        folder: Option<String>,
        /// A tag.
        tag: Option<String>,
        /// A project.
        project: Option<String>,
        /// The `next` of the page before.
        before: Option<String>,
        /// Rows of the page, at most; more than the host gives at once is cut.
        #[param(minimum = 1)]
        limit: Option<u64>,
    }
}

/// A page of chats, the last changed first.
#[utoipa::path(
    get,
    path = "/chats",
    params(ListQuery),
    responses((status = OK, description = "A page; `next` is the `before` of the one after it.", body = RowPage)),
    extensions(("x-refusals" = json!([Code::InvalidCursor]))),
)]
pub(super) async fn list(State(app): State<App>, params: Params) -> Answer<Json<RowPage>> {
    let params = params.only::<ListQuery>()?;
    let states =
        [("open", ChatFilter::Open), ("closed", ChatFilter::Closed), ("all", ChatFilter::All)];
    let filter = params.word("state", &states)?.unwrap_or_default();
    let limit = params.limit(PAGE_CHATS, PAGE_CHATS_MAX)?;
    let narrow = Narrow::of(&params)?;
    let mut next = params.one("before")?.map(str::to_owned);
    let mut items = Vec::new();
    for _ in 0..PAGES_LOOKED_THROUGH_MAX {
        let wanted = match narrow {
            Narrow::Not => limit,
            // A page that is looked through may fill the answer, but not overfill it.
            Narrow::To { .. } => limit.saturating_sub(items.len()).min(QUERY_ROWS_MAX),
        };
        let page = app.store.chats(filter, next.take(), wanted).await.map_err(unread)?;
        items.extend(page.rows.into_iter().filter(|row| narrow.keeps(row)).map(Row::of));
        next = page.next;
        if next.is_none() || items.len() >= limit {
            break;
        }
    }
    Ok(Json(Page { items, next }))
}

/// What a list is narrowed to beside the state of its chats.
enum Narrow {
    Not,
    To { words: Option<String>, project: Option<String>, nothing: bool },
}

impl Narrow {
    fn of(params: &Params) -> Result<Self, Refusal> {
        let words = params.one("q")?.map(str::to_lowercase);
        let project = params.one("project")?.map(str::to_owned);
        // No chat is in a folder or has a tag yet.
        let nothing = params.one("folder")?.is_some() || params.one("tag")?.is_some();
        Ok(match (words, project, nothing) {
            (None, None, false) => Self::Not,
            (words, project, nothing) => Self::To { words, project, nothing },
        })
    }

    fn keeps(&self, row: &ChatRow) -> bool {
        match self {
            Self::Not => true,
            Self::To { words, project, nothing } => {
                let has = |words: &String| {
                    let texts = [&row.title, &row.last_prompt, &row.project, &row.slot];
                    texts.into_iter().flatten().any(|text| text.to_lowercase().contains(words))
                };
                !nothing
                    && words.as_ref().is_none_or(has)
                    && project.as_ref().is_none_or(|project| row.project.as_ref() == Some(project))
            }
        }
    }
}

request! {
    /// A chat to open. It starts no agent; a message does.
    pub(super) struct NewChat {
        /// The id of an agent.
        #[schema(example = "demo")]
        agent: String,
        /// The directory in which the agent works: an absolute path. The home directory where
        /// nothing is said.
        cwd: Option<String>,
        /// The project.
        project: Option<String>,
        /// The title; the first message where nothing is said.
        title: Option<String>,
        /// The name under which apps address the chat.
        slot: Option<String>,
        /// The agent's model.
        model: Option<String>,
        /// The agent's mode.
        mode: Option<String>,
        /// The first message.
        message: Option<First>,
    }

    /// A first message as an object.
    struct FirstMessage {
        /// Its text.
        text: String,
    }
}

/// A first message: its text, or an object with it.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "declared; read by hand")]
enum First {
    /// Its text.
    Text(String),
    /// An object with it.
    Message(FirstMessage),
}

/// Opens a chat.
#[utoipa::path(
    post,
    path = "/chats",
    request_body = NewChat,
    responses((status = CREATED, description = "The chat, with the receipt of its first message.", body = OpenedRow)),
    extensions(("x-refusals" = json!([Code::AgentNotFound, Code::SlotTaken, Code::ChatNotFound]))),
)]
pub(super) async fn open(
    State(app): State<App>,
    mut call: Call<MessageBody>,
) -> Answer<(StatusCode, Json<OpenedRow>)> {
    let wanted = wanted(&app, &mut call)?;
    let (id, receipt) = match app.host.open(wanted, call.caller.clone()).await? {
        Reply::Opened { chat, receipt } => (chat, receipt),
        other => return Err(odd_reply(&other)),
    };
    let row = shown(&app, call.caller, id).await?;
    Ok((StatusCode::CREATED, Json(OpenedRow { row, receipt })))
}

fn wanted(app: &App, call: &mut Call<MessageBody>) -> Result<WantedChat, Refusal> {
    let mut fields = call.fields::<NewChat>()?;
    let name = Most::Chars(NAME_CHARS_MAX);
    let agent = fields.line("agent", name)?.ok_or_else(|| fields.missing("agent"))?;
    let message = first_message(&mut fields)?;
    Ok(WantedChat {
        agent,
        cwd: directory(&mut fields)?,
        project: fields.line("project", Most::Chars(PROJECT_CHARS_MAX))?,
        title: fields.line("title", Most::Chars(TITLE_CHARS_MAX))?,
        slot: fields.line("slot", Most::Chars(SLOT_CHARS_MAX))?,
        model: fields.line("model", name)?,
        mode: fields.line("mode", name)?,
        message: message.map(|text| (app.host.new_message(), text, call.principal.author)),
    })
}

/// A path as it is: it may have any character but NUL, which no path has.
fn directory(fields: &mut Fields) -> Result<Option<String>, Refusal> {
    let cwd = fields.text("cwd", Most::Bytes(CWD_BYTES_MAX))?;
    match cwd {
        Some(cwd) if !cwd.starts_with('/') || cwd.contains('\0') => {
            Err(fields.invalid("cwd", "an absolute path"))
        }
        cwd => Ok(cwd),
    }
}

/// The first message: its text, or an object with it.
fn first_message(fields: &mut Fields) -> Result<Option<String>, Refusal> {
    let most = Most::Bytes(MESSAGE_BYTES_MAX);
    match fields.value("message") {
        None => Ok(None),
        Some(Value::Object(message)) => {
            let mut inner = Fields::within(message, FirstMessage::FIELDS, "message.".to_owned())?;
            let text = inner.text("text", most)?;
            text.map(Some).ok_or_else(|| inner.missing("text"))
        }
        Some(text) => {
            let alone = [("message".to_owned(), text)].into_iter().collect();
            Fields::of(alone, &["message"])?.text("message", most)
        }
    }
}

/// One chat.
#[utoipa::path(
    get,
    path = "/chats/{chat}",
    responses((status = OK, description = "The chat.", body = Row)),
)]
pub(super) async fn one(State(app): State<App>, at: At) -> Answer<Json<Row>> {
    Ok(Json(Row::of(chat(&app, at.id("chat")?).await?)))
}

request! {
    /// What is to change of a chat; what is absent stays.
    pub(super) struct ChatChange {
        /// Its title.
        title: Option<String>,
        /// Its slot.
        slot: Option<String>,
        /// Whether it stands first.
        pinned: Option<bool>,
        /// Its folder.
        folder: Option<String>,
        /// Its tags.
        tags: Option<Vec<String>>,
        /// Whether it makes no sound.
        muted: Option<bool>,
        /// Its model.
        model: Option<String>,
        /// Its mode.
        mode: Option<String>,
    }
}

/// Changes what a person calls a chat.
#[utoipa::path(
    patch,
    path = "/chats/{chat}",
    request_body = ChatChange,
    responses((status = OK, description = "The chat as it is now.", body = Row)),
    extensions(("x-refusals" = json!([Code::NotSupported]))),
)]
pub(super) async fn patch(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Row>> {
    let id = at.id("chat")?;
    let later = ["slot", "pinned", "folder", "tags", "muted", "model", "mode"];
    let mut fields = call.fields::<ChatChange>()?;
    if let Some(name) = later.into_iter().find(|name| fields.has(name)) {
        let text = format!("This version cannot change the field {name} of a chat.");
        return Err(Refusal::new(Code::NotSupported, text).field(name).into());
    }
    match fields.line("title", Most::Chars(TITLE_CHARS_MAX))? {
        Some(title) => {
            app.host.submit(id, Command::Title { title }, call.caller.clone()).await?;
        }
        None => change_nothing(&app, id, call.caller.clone()).await?,
    }
    Ok(Json(shown(&app, call.caller, id).await?))
}

/// A change without a field changes nothing, but its key is spent as that of any other.
async fn change_nothing(app: &App, id: ChatId, caller: Caller) -> Answer<()> {
    if app.host.replayed(caller.clone()).await?.is_none() {
        chat(app, id).await?;
        app.host.remember(Some(id), Reply::Row, caller).await?;
    }
    Ok(())
}

/// What becomes of processes that outlived their tool call.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "declared; read as words")]
enum LeftoversThen {
    /// They are ended.
    End,
    /// They stay.
    Leave,
}

request! {
    /// A close of a chat.
    pub(super) struct Close {
        /// What becomes of leftovers; `end` where nothing is said.
        leftovers: Option<LeftoversThen>,
    }
}

/// What was left when a chat was closed.
#[derive(Serialize, ToSchema)]
pub(super) struct Closed {
    /// What was left running.
    leftovers: Vec<Leftover>,
}

/// Closes a chat.
#[utoipa::path(
    post,
    path = "/chats/{chat}/close",
    request_body = Close,
    responses((status = OK, description = "It is closed.", body = Closed)),
    extensions(("x-refusals" = json!([Code::ChatClosed]))),
)]
pub(super) async fn close(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Closed>> {
    let choices = [("end", Leftovers::End), ("leave", Leftovers::Leave)];
    let leftovers = call.fields::<Close>()?.word("leftovers", &choices)?.unwrap_or_default();
    match app.host.submit(at.id("chat")?, Command::Close { leftovers }, call.caller).await? {
        Reply::Closed { leftovers } => {
            Ok(Json(Closed { leftovers: leftovers.into_iter().map(Leftover::of).collect() }))
        }
        other => Err(odd_reply(&other)),
    }
}

/// Opens a closed chat again.
#[utoipa::path(
    post,
    path = "/chats/{chat}/reopen",
    responses((status = OK, description = "The chat, open.", body = Row)),
    extensions(("x-refusals" = json!([Code::ChatOpen, Code::SlotTaken]))),
)]
pub(super) async fn reopen(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Row>> {
    call.no_fields()?;
    let id = at.id("chat")?;
    app.host.submit(id, Command::Reopen, call.caller.clone()).await?;
    Ok(Json(shown(&app, call.caller, id).await?))
}

/// A write that has nothing more to say than that it is done.
#[derive(Serialize, ToSchema)]
pub(crate) struct Done {}

/// Deletes a chat.
#[utoipa::path(
    delete,
    path = "/chats/{chat}",
    responses((status = OK, description = "It is deleted.", body = Done)),
)]
pub(super) async fn delete(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Done>> {
    call.no_fields()?;
    app.host.submit(at.id("chat")?, Command::Delete, call.caller).await?;
    Ok(Json(Done {}))
}

/// What is done to the agent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "declared; read as words")]
enum AgentThen {
    /// It is ended.
    Stop,
}

request! {
    /// An interruption.
    pub(super) struct Interrupt {
        /// Also end the agent itself.
        agent: Option<AgentThen>,
    }
}

/// Ends the running turn, or the agent itself.
#[utoipa::path(
    post,
    path = "/chats/{chat}/interrupt",
    request_body = Interrupt,
    responses((status = OK, description = "The agent is told.", body = Done)),
    extensions(("x-refusals" = json!([Code::NoTurn]))),
)]
pub(super) async fn interrupt(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Done>> {
    let agent = call.fields::<Interrupt>()?.word("agent", &[("stop", ())])?;
    let command = agent.map_or(Command::Interrupt, |()| Command::StopAgent);
    app.host.submit(at.id("chat")?, command, call.caller).await?;
    Ok(Json(Done {}))
}
