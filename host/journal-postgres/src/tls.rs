//! TLS of connections: certificates are verified with the system's roots, or those of a file.

use crate::address::Address;
use agent_spaces_journal::StoreError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Most bytes of a file with root certificates: all public ones fit.
const MAX_FILE: u64 = 2 << 20;

/// Returns the TLS client of an address.
pub(crate) fn connector(address: &Address) -> Result<MakeRustlsConnect, StoreError> {
    let mut roots = RootCertStore::empty();
    match (&address.root_certificates, address.config.get_ssl_mode()) {
        (_, SslMode::Disable) => {}
        (Some(file), _) => add_file(&mut roots, file)?,
        // What cannot be read or parsed there is left out: a certificate that needs it is refused.
        (None, _) => {
            let _ = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| StoreError::Io(format!("TLS: {error}")))?;
    Ok(MakeRustlsConnect::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

fn add_file(roots: &mut RootCertStore, file: &Path) -> Result<(), StoreError> {
    let fault = |text: String| StoreError::Io(format!("the root certificates {}: {text}", file.display()));
    let mut text = Vec::new();
    let opened = File::open(file).map_err(|error| fault(error.to_string()))?;
    opened.take(MAX_FILE).read_to_end(&mut text).map_err(|error| fault(error.to_string()))?;
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|error| fault(error.to_string()))?;
        roots.add(certificate).map_err(|error| fault(error.to_string()))?;
    }
    match roots.is_empty() {
        false => Ok(()),
        true => Err(fault("it has no certificate; name a PEM file in `sslrootcert`".to_owned())),
    }
}
