//! Command-line options about the registry.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use rackloom_ipc::{Endpoint, TlsAddress};
use rackloom_registry_client::{Access, Url};

/// The registry that gives the boards to programs.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct RegistryOptions {
    /// Registry that decides who may use the boards, instead of --tokens: http://HOST:PORT, https://HOST:PORT or
    /// unix:PATH.
    #[arg(long, value_name = "URL", conflicts_with = "tokens")]
    pub registry: Option<Url>,
    /// File with the token to present to the registry, of the role manager.
    #[arg(long, value_name = "FILE", requires = "registry")]
    pub registry_token_file: Option<PathBuf>,
    /// File with the authorities, in PEM, that verify the registry's certificate; for https.
    #[arg(long, value_name = "FILE", requires = "registry")]
    pub registry_ca: Option<PathBuf>,
    /// File with the certificate, in PEM, to present to the registry.
    #[arg(long, value_name = "FILE", requires = "registry", requires = "registry_key")]
    pub registry_cert: Option<PathBuf>,
    /// File with that certificate's key, in PEM.
    #[arg(long, value_name = "FILE", requires = "registry", requires = "registry_cert")]
    pub registry_key: Option<PathBuf>,
    /// This machine's name at the registry, where the boards are NODE/BOARD. Default: the host's name.
    #[arg(long, value_name = "NODE", requires = "registry")]
    pub node: Option<String>,
    /// Where programs reach the boards, as the registry reports it; may be repeated. Default: the --listen endpoints.
    #[arg(long, value_name = "ENDPOINT", requires = "registry")]
    pub advertise: Vec<Endpoint>,
    /// Where the registry reaches the metrics. Default: where they are served.
    #[arg(long, value_name = "URL", requires = "registry", value_parser = metrics_url)]
    pub advertise_metrics: Option<String>,
}

/// Most characters of a node's name.
const NODE_MAX: usize = 253;

/// Most endpoints that the registry accepts.
const ENDPOINTS_MAX: usize = 8;

impl RegistryOptions {
    /// Access to the registry; `None` without one.
    pub(super) fn access(&self) -> anyhow::Result<Option<Access>> {
        let Some(url) = self.registry.clone() else { return Ok(None) };
        let identity = self.registry_cert.clone().zip(self.registry_key.clone());
        Ok(Some(Access { url, token: self.registry_token_file.clone(), ca: self.registry_ca.clone(), identity }))
    }

    /// The node's name.
    pub(super) fn node(&self) -> anyhow::Result<String> {
        let node = match &self.node {
            Some(node) => node.clone(),
            None => std::fs::read_to_string("/proc/sys/kernel/hostname")
                .context("cannot read this machine's name; set it with --node NAME")?
                .trim()
                .to_ascii_lowercase(),
        };
        let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_well = node.len() <= NODE_MAX
            && node.starts_with(is_end)
            && node.ends_with(is_end)
            && node.chars().all(|c| is_end(c) || "._-".contains(c));
        if !is_well {
            bail!(
                "invalid node name `{node}`: expected 1 to {NODE_MAX} characters a-z, 0-9, and inside also . _ -; set \
                 another with --node NAME"
            );
        }
        Ok(node)
    }

    /// Endpoints where programs reach the boards. Those that only this machine reaches are omitted if the registry runs
    /// on another one.
    pub(super) fn endpoints(&self, listening: &[Endpoint], is_here: bool) -> anyhow::Result<Vec<String>> {
        let named = !self.advertise.is_empty();
        let pin = listening.iter().find_map(|endpoint| match endpoint {
            Endpoint::Tls(address) => address.pin,
            _ => None,
        });
        let mut reachable = Vec::new();
        for endpoint in if named { &self.advertise } else { listening } {
            match endpoint {
                Endpoint::Unix(path) => {
                    let path = std::path::absolute(path).context("cannot find the working folder")?;
                    reachable.push(format!("unix:{}", path.display()));
                }
                Endpoint::Tcp(address) => {
                    let (ip, port) = (Some(address.ip()), address.port());
                    reachable.extend(Self::reached(endpoint, ip, port, named || is_here)?);
                }
                Endpoint::Tls(address) => {
                    // Whoever is sent there by the registry knows the manager by its key, if that is how it is known.
                    let known = TlsAddress { pin: address.pin.or(pin), ..address.clone() };
                    let (known, ip, port) = (Endpoint::Tls(known), address.ip(), address.port);
                    reachable.extend(Self::reached(&known, ip, port, named || is_here)?);
                }
            }
        }
        if reachable.is_empty() {
            bail!(
                "the registry is on another machine, and programs of other machines cannot reach this manager at {}; \
                 listen with --listen tls:ADDRESS:PORT, or name the address with --advertise",
                listening.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
            );
        }
        if reachable.len() > ENDPOINTS_MAX {
            bail!(
                "{} endpoints are more than the registry accepts; name at most {ENDPOINTS_MAX} with --advertise",
                reachable.len()
            );
        }
        Ok(reachable)
    }

    /// An endpoint of a network as programs use it; none if only this machine reaches it, and they may be elsewhere.
    fn reached(endpoint: &Endpoint, ip: Option<IpAddr>, port: u16, is_for_all: bool) -> anyhow::Result<Option<String>> {
        if ip.is_some_and(|ip| ip.is_unspecified()) || port == 0 {
            let kind = if matches!(endpoint, Endpoint::Tls(_)) { "tls" } else { "tcp" };
            bail!(
                "programs cannot connect to {endpoint}; name an address of this machine with --advertise \
                 {kind}:ADDRESS:{port}"
            );
        }
        let is_reached = is_for_all || !ip.is_some_and(|ip| ip.is_loopback());
        Ok(is_reached.then(|| endpoint.to_string()))
    }

    /// The URL of the metrics; empty if they are not served.
    pub(super) fn metrics(&self, served: Option<SocketAddr>, is_here: bool) -> anyhow::Result<String> {
        match (&self.advertise_metrics, served) {
            (Some(url), _) => Ok(url.clone()),
            (None, None) => Ok(String::new()),
            (None, Some(at)) if at.ip().is_unspecified() => bail!(
                "the registry cannot reach http://{at}/metrics; name an address with --advertise-metrics \
                 http://ADDRESS:{}/metrics",
                at.port()
            ),
            // The registry would ask its own machine.
            (None, Some(at)) if at.ip().is_loopback() && !is_here => {
                eprintln!(
                    "rackloom-manager: the registry is on another machine and cannot measure the boards at \
                     http://{at}/metrics; serve them with --metrics at an address of the network"
                );
                Ok(String::new())
            }
            (None, Some(at)) => Ok(format!("http://{at}/metrics")),
        }
    }
}

fn metrics_url(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("http://").map(|rest| rest.split('/').next().unwrap_or_default());
    if host.is_none_or(str::is_empty) || text.contains(char::is_whitespace) {
        return Err(format!("invalid URL {text:?}: expected http://HOST:PORT/metrics"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_names_that_ids_can_have() {
        let named = |node: &str| RegistryOptions { node: Some(node.into()), ..Default::default() }.node();
        assert_eq!(named("a-1.rack_2").unwrap(), "a-1.rack_2");
        for bad in ["", "-a", "a-", "A", "a/b", "a b", &"a".repeat(254)] {
            assert!(named(bad).unwrap_err().to_string().contains("--node"), "{bad}");
        }
    }

    #[test]
    fn what_is_advertised_can_be_reached() {
        let all = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<Endpoint>>();
        let plain = RegistryOptions::default();
        let told = |listening: &[&str], is_here| plain.endpoints(&all(listening), is_here).map_err(|e| e.to_string());
        assert_eq!(told(&["unix:/run/m", "tcp:127.0.0.1:7"], true).unwrap(), ["unix:/run/m", "tcp:127.0.0.1:7"]);
        assert_eq!(told(&["unix:/run/m", "tcp:127.0.0.1:7"], false).unwrap(), ["unix:/run/m"]);
        assert!(told(&["unix:m"], true).unwrap()[0].starts_with("unix:/"));
        assert!(told(&["tcp:0.0.0.0:7"], true).unwrap_err().contains("--advertise tcp:ADDRESS:7"));
        assert!(told(&["tcp:[::1]:7"], false).unwrap_err().contains("--listen tls:ADDRESS:PORT"));
        let pin = format!("#sha256:{}", "5a".repeat(32));
        let known = |text: &str| format!("{text}{pin}");
        assert!(told(&["tls:0.0.0.0:7"], true).unwrap_err().contains("--advertise tls:ADDRESS:7"));
        assert_eq!(told(&[&known("tls:10.0.0.7:7")], false).unwrap(), [known("tls:10.0.0.7:7")]);
        let named = RegistryOptions { advertise: all(&["tls:rack-7:7", "unix:/m"]), ..Default::default() };
        let told_so = named.endpoints(&all(&[&known("tls:0.0.0.0:7")]), false).unwrap();
        assert_eq!(told_so, [known("tls:rack-7:7"), "unix:/m".into()]);
        let said = RegistryOptions { advertise: all(&["tcp:10.0.0.7:9"]), ..Default::default() };
        assert_eq!(said.endpoints(&all(&["tcp:0.0.0.0:7"]), false).unwrap(), ["tcp:10.0.0.7:9"]);
    }

    #[test]
    fn metrics_are_where_the_registry_reaches_them() {
        let at = |text: &str| Some(text.parse().unwrap());
        let plain = RegistryOptions::default();
        assert_eq!(plain.metrics(None, true).unwrap(), "");
        assert_eq!(plain.metrics(at("127.0.0.1:9"), true).unwrap(), "http://127.0.0.1:9/metrics");
        assert_eq!(plain.metrics(at("127.0.0.1:9"), false).unwrap(), "");
        assert!(plain.metrics(at("0.0.0.0:9"), true).unwrap_err().to_string().contains("--advertise-metrics"));
        let said = RegistryOptions { advertise_metrics: Some("http://a:1/m".into()), ..Default::default() };
        assert_eq!(said.metrics(at("0.0.0.0:9"), false).unwrap(), "http://a:1/m");
        assert!(metrics_url("http://a:1/metrics").is_ok() && metrics_url("https://a").is_err());
        assert!(metrics_url("http:///x").is_err());
    }
}
