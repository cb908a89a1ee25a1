//! The energies of a drive, from settings as written.

use super::keys::EnergyKeys;
use super::resolve::{Work, keys_of, text};
use nand::{Energies, Geometry};
use serde_json::{Map, Value as Json};

impl Work<'_> {
    /// The energies, and the section as it is echoed; nothing if the section gives nothing.
    pub(crate) fn energy(
        &mut self,
        geometry: Option<&Geometry>,
    ) -> Option<(Energies, Map<String, Json>)> {
        let keys: EnergyKeys = keys_of(self.written.energy.as_ref());
        let EnergyKeys { read, program, erase, transfer_out, transfer_in, idle_power } = keys;
        let given = [read.is_some(), program.is_some(), erase.is_some()].contains(&true)
            || [transfer_out.is_some(), transfer_in.is_some(), idle_power.is_some()]
                .contains(&true);
        if !given {
            return None;
        }
        let mut json = Map::new();
        let read = self.for_each_type("energy", "read", read, geometry, &mut json);
        let program = self.for_each_type("energy", "program", program, geometry, &mut json);
        let erase = self.need("energy.erase", erase);
        let transfers = [transfer_out, transfer_in].map(|at| at.map(|at| at.value));
        let idle = idle_power.map(|at| at.value);
        json.insert("erase".into(), text(erase?));
        for (key, energy) in ["transfer-out", "transfer-in"].into_iter().zip(transfers) {
            if let Some(energy) = energy {
                json.insert(key.into(), text(energy));
            }
        }
        if let Some(power) = idle {
            json.insert("idle-power".into(), text(power));
        }
        let [transfer_out, transfer_in] = transfers;
        let (read, program, erase) = (read?, program?, erase?);
        Some((Energies { read, program, erase, transfer_out, transfer_in, idle }, json))
    }
}
