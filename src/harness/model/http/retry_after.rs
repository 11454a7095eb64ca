//! How long a server asks to wait: `Retry-After` in seconds or as a date, or `retry-after-ms`.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::HeaderMap;

/// What the headers ask for. A date in the past asks for no pause; nonsense asks for nothing.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let exact = value("retry-after-ms").and_then(|text| seconds(text, 1_000.0));
    exact.or_else(|| {
        let text = value("retry-after")?;
        seconds(text, 1.0).or_else(|| {
            let until = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
            Some(Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO))
        })
    })
}

fn seconds(text: &str, per_second: f64) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(number / per_second).ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn every_form_is_understood() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        for (name, value, expected) in [
            ("retry-after", "7", Some(7_000)),
            ("retry-after", " 0.5 ", Some(500)),
            ("retry-after", "Sun, 01 Mar 2026 12:00:30 GMT", Some(30_000)),
            ("retry-after", "Sun, 01 Mar 2026 11:00:00 GMT", Some(0)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "-1", None),
            ("retry-after", "NaN", None),
            ("retry-after", "soon", None),
            ("x-other", "1", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            assert_eq!(retry_after(&headers, now), expected.map(Duration::from_millis), "{name}: {value}");
        }
    }
}
