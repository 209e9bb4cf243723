//! One client of a host, over HTTP, as any other.

use serde_json::Value;

use crate::host::{Answer, PATIENCE};

/// A client that shares nothing with any other.
#[derive(Debug)]
pub struct Client {
    url: String,
    token: String,
    runtime: tokio::runtime::Runtime,
    client: reqwest::Client,
}

impl Client {
    /// A client of the host at this address.
    pub fn new(url: &str, token: &str) -> Self {
        Self {
            url: url.to_owned(),
            token: token.to_owned(),
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
            client: reqwest::Client::new(),
        }
    }

    /// One request with further headers; none where no answer came.
    pub fn request_with(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> Option<Answer> {
        let url = format!("{}/api/v1{path}", self.url);
        let mut request = self.client.request(method.parse().unwrap(), url);
        request = request.bearer_auth(&self.token).timeout(PATIENCE);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        self.runtime.block_on(async {
            let response = request.send().await.ok()?;
            let status = response.status().as_u16();
            let bytes = response.bytes().await.ok()?;
            Some(Answer { status, body: serde_json::from_slice(&bytes).unwrap_or_default() })
        })
    }
}
