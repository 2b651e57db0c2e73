//! Tenants where no tokens are known: the users of this machine, and the addresses of others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use rackloom_ipc::{Identity, Tenant};
use rackloom_sync::lock;

use crate::quota::{TenantLimits, TenantQuotas};

/// The quotas of those who have clients at the moment.
#[derive(Debug, Default)]
pub struct Strangers(Mutex<BTreeMap<Tenant, Weak<TenantQuotas>>>);

impl Strangers {
    /// The quotas of a client's tenant: the same for each, as long as somebody holds them.
    pub(crate) fn quotas(&self, identity: &Identity, limits: TenantLimits) -> Arc<TenantQuotas> {
        let mut known = lock(&self.0);
        let tenant = Tenant::without_token(identity);
        if let Some(quotas) = known.get(&tenant).and_then(Weak::upgrade) {
            return quotas;
        }
        known.retain(|_, quotas| quotas.strong_count() > 0); // So there are no more than clients.
        let quotas = TenantQuotas::new(limits);
        known.insert(tenant, Arc::downgrade(&quotas));
        quotas
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_and_an_address_have_one_quota_each_while_they_have_clients() {
        let strangers = Strangers::default();
        let limits = TenantLimits { memory: 100, programs: 100, objects: 10, registered: 0 };
        let unix = |uid, pid| strangers.quotas(&Identity::Unix { pid, uid, gid: pid }, limits);
        let tcp =
            |host: u8, port: u16| strangers.quotas(&Identity::Tcp { from: ([10, 0, 0, host], port).into() }, limits);
        let all = [unix(7, 1), unix(8, 1), tcp(1, 1), tcp(2, 1)];
        for (at, again) in [unix(7, 2), unix(8, 2), tcp(1, 2), tcp(2, 2)].iter().enumerate() {
            for (of, one) in all.iter().enumerate() {
                assert_eq!(Arc::ptr_eq(again, one), at == of);
            }
        }
        drop(all);
        let _new = unix(9, 1);
        assert_eq!(lock(&strangers.0).len(), 1, "nobody is remembered");
    }
}
