//! Programs that a registry places, where somebody else answers at their manager's address.

use rackloom_ipc::Endpoint;
use rackloom_manager::installed;

use crate::common::Tenant;
use crate::isolating::{counts_to, free_port, with_kernels};
use crate::secured::{Impostor, connects};
use crate::site::{Site, until};

#[test]
fn an_impostor_at_the_address_of_a_manager() {
    let site = Site::new(&[]);
    let (port, key) = (free_port(), site.path("key.pem"));
    let listen = format!("tls:127.0.0.1:{port}");
    let pocl = installed().into_iter().find(|library| library.to_string_lossy().contains("pocl"));
    let pocl = pocl.expect("PoCL is installed (apt-get install pocl-opencl-icd)");
    let secure = ["--listen", &listen, "--tls-self-signed", key.to_str().unwrap()];
    let options = ["--registry", &site.registry(), "--node", "n", "--runtime", pocl.to_str().unwrap()];
    let mut manager = site.launch(&[secure.as_slice(), &options].concat());
    until("registered", || site.are_online(1));
    site.say(&["function", "any"]);
    let environment = site.say(&["allocate", "any", "a-1"]);
    let value = |name: &str| environment.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let token = value("RACKLOOM_TOKEN=");
    let token = std::array::from_fn(|at| u8::from_str_radix(&token[2 * at..][..2], 16).unwrap());
    // That is all that a program gets, and it knows the manager by it.
    let endpoint: Endpoint = value("RACKLOOM_MANAGERS=").parse().unwrap();
    assert!(endpoint.to_string().starts_with(&format!("{listen}#sha256:")), "{endpoint}");
    until("the manager hears of it", || connects(&endpoint, token, None).is_ok());
    let client = Tenant::opening(&endpoint, token);
    with_kernels(&client);
    counts_to(&client, 1);
    drop(client);

    manager.kill();
    let impostor = Impostor::listen(port);
    let why = connects(&endpoint, token, None).unwrap_err();
    assert!(why.contains("not the one that was expected"), "{why}");
    assert_eq!(impostor.tokens(), 0, "the token has left the program");
    drop(impostor);
    // The manager has the same key when it is back.
    let _manager = site.launch(&[secure.as_slice(), &options].concat());
    until("it is back", || connects(&endpoint, token, None).is_ok());
}
