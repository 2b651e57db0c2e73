//! What every report must be.

use rackloom_report::StudyReport;

/// Checks the schema, that there are as many claims as `claims` and all hold, that the text fits a terminal, and that
/// the picture is one.
pub fn check(report: &dyn StudyReport, schema: &str, claims: usize) {
    assert_eq!(report.json()["schema"], schema);
    assert_eq!(report.claims().len(), claims, "{:?}", report.claims());
    for claim in report.claims() {
        assert!(claim.holds, "{claim:?}\n{report}");
    }
    assert_eq!(report.json()["claims"].as_array().map(Vec::len), Some(claims));
    let text = report.to_string();
    for line in text.lines() {
        assert!(line.chars().count() <= 80 && !line.ends_with('…'), "too wide: {line}");
        assert!(!line.contains("FAILS") && !line.contains("NaN") && !line.contains("-0.00 "), "{line}");
    }
    let svg = report.svg();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("<polyline"), "no line");
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}
