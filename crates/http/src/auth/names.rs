//! Under which names a host answers, and which pages may call it.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, Uri, header};
use holdfast_core::refusal::{Code, Refusal};

/// The host names under which a host may be called; the port is not looked at, since a forwarded
/// port has another number. A page of a foreign site that had its own name point here ("DNS
/// rebinding") sends that name, and is refused.
#[derive(Clone, Debug)]
pub struct Names(Vec<String>);

impl Names {
    /// `localhost` and the loopback addresses, the address that is listened on unless it is a
    /// wildcard, and the names that the owner configured (`box.example`, `192.168.0.7`).
    #[must_use]
    pub fn new(listen: SocketAddr, configured: &[String]) -> Self {
        let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
        if !listen.ip().is_unspecified() {
            names.push(match listen.ip() {
                IpAddr::V4(ip) => ip.to_string(),
                IpAddr::V6(ip) => format!("[{ip}]"),
            });
        }
        names.extend(configured.iter().map(|name| name.to_ascii_lowercase()));
        Self(names)
    }

    /// Checks where a request comes from.
    ///
    /// # Errors
    /// `foreign_host` unless there is exactly one `Host` and it is one of the names;
    /// `foreign_origin` where there is an `Origin` and it is not the page of that same host.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = one(headers, header::HOST).filter(|host| self.knows(host)).ok_or_else(|| {
            Refusal::new(
                Code::ForeignHost,
                "The Host header does not name this host. Call it as localhost or 127.0.0.1, or add \
                 the name to its configuration.",
            )
        })?;
        // A request in absolute form names the host a second time.
        let authority = uri.authority().map(|authority| authority.as_str());
        if authority.is_some_and(|authority| !self.knows(&authority.to_ascii_lowercase())) {
            return Err(Refusal::new(Code::ForeignHost, "The address names another host."));
        }
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
            if !same(&origin, &host) {
                return Err(Refusal::new(
                    Code::ForeignOrigin,
                    "The Origin header names a page that is not this host's. Pages of other sites \
                     cannot call it.",
                ));
            }
        }
        Ok(())
    }

    fn knows(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
                name
            }
            _ => host,
        };
        self.0.iter().any(|known| known == name)
    }
}

/// The one value of a header, in lower case.
fn one(headers: &HeaderMap, name: header::HeaderName) -> Option<String> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?.to_ascii_lowercase();
    if values.next().is_some() { None } else { Some(value) }
}

/// Whether an origin is the page that this host itself serves.
fn same(origin: &str, host: &str) -> bool {
    let (rest, usual) = match (origin.strip_prefix("http://"), origin.strip_prefix("https://")) {
        (Some(rest), _) => (rest, ":80"),
        (None, Some(rest)) => (rest, ":443"),
        (None, None) => return false,
    };
    rest == host.strip_suffix(usual).unwrap_or(host) || rest == host
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn check(headers: &[(&'static str, &str)]) -> Result<(), Code> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let names = Names::new("0.0.0.0:7433".parse().unwrap(), &["Box.Example".to_owned()]);
        names.check(&Uri::from_static("/api/v1/host"), &map).map_err(|refusal| refusal.code)
    }

    #[rstest]
    #[case::by_name("localhost:7433")]
    #[case::by_address("127.0.0.1:7433")]
    #[case::by_ipv6("[::1]:7433")]
    #[case::forwarded_port("localhost:9000")]
    #[case::without_port("LocalHost")]
    #[case::configured("box.example:7433")]
    fn own_names_are_taken(#[case] host: &str) {
        assert_eq!(check(&[("host", host)]), Ok(()));
        let page = format!("http://{}", host.to_lowercase());
        assert_eq!(check(&[("host", host), ("origin", &page)]), Ok(()));
    }

    #[rstest]
    #[case::rebound(&[("host", "evil.example:7433")])]
    #[case::sub(&[("host", "localhost.evil.example")])]
    #[case::prefix(&[("host", "notlocalhost")])]
    #[case::wildcard(&[("host", "0.0.0.0:7433")])]
    #[case::other_address(&[("host", "10.0.0.1:7433")])]
    #[case::user(&[("host", "localhost@evil.example")])]
    #[case::port_of_letters(&[("host", "localhost:evil")])]
    #[case::empty(&[("host", "")])]
    #[case::absent(&[])]
    #[case::two(&[("host", "localhost"), ("host", "evil.example")])]
    fn other_hosts_are_foreign(#[case] headers: &[(&'static str, &str)]) {
        assert_eq!(check(headers), Err(Code::ForeignHost));
    }

    #[rstest]
    #[case::null("null")]
    #[case::other_site("http://evil.example")]
    #[case::other_port("http://localhost:3000")]
    #[case::other_scheme("file://localhost:7433")]
    #[case::longer("http://localhost:7433.evil.example")]
    #[case::empty("")]
    #[case::bare("localhost:7433")]
    fn other_pages_are_foreign(#[case] origin: &str) {
        let headers = [("host", "localhost:7433"), ("origin", origin)];
        assert_eq!(check(&headers), Err(Code::ForeignOrigin));
        let both = [("host", "localhost:7433"), ("origin", "http://localhost:7433"), headers[1]];
        assert_eq!(check(&both), Err(Code::ForeignOrigin));
    }

    #[test]
    fn an_absolute_address_has_to_be_ours_too() {
        let mut headers = HeaderMap::new();
        headers.insert("host", "localhost".parse().unwrap());
        let names = Names::new("127.0.0.1:1".parse().unwrap(), &[]);
        let foreign = Uri::from_static("http://evil.example/livez");
        assert_eq!(names.check(&foreign, &headers).unwrap_err().code, Code::ForeignHost);
        assert!(names.check(&Uri::from_static("http://localhost/livez"), &headers).is_ok());
    }

    #[test]
    fn a_usual_port_may_be_left_out() {
        let headers = [("host", "box.example:443"), ("origin", "https://box.example")];
        assert_eq!(check(&headers), Ok(()));
    }
}
