//! The form of a geometry for scripts: a map from the name of a quantity to what is found of it.

use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use super::finding::{Claim, Finding, Geometry, Value};

impl Serialize for Geometry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let quantities = self.quantities();
        let mut map = serializer.serialize_map(Some(quantities.len()))?;
        for (name, finding) in quantities {
            map.serialize_entry(name, finding)?;
        }
        map.end()
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Claimed(claim) => claim.serialize(serializer),
            Self::CannotBeSeen(reason) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("cannot_be_seen", reason)?;
                map.end()
            }
        }
    }
}

impl Serialize for Claim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Claim", 5)?;
        match self.value {
            Value::Bytes(bytes) => fields.serialize_field("value", &bytes.get())?,
            Value::Units(count) => fields.serialize_field("value", &count)?,
            Value::Rate(rate) => fields.serialize_field("value", &rate.0)?,
            Value::Mapping(mapping) => fields.serialize_field("value", mapping.name())?,
        }
        fields.serialize_field("unit", self.value.unit())?;
        fields.serialize_field("probability", &self.probability)?;
        fields.serialize_field("method", self.method)?;
        fields.serialize_field("notes", &self.notes)?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Observations, UnitsRow, UnitsTable, infer};
    use cardproof_units::{Bytes, Throughput};

    #[test]
    fn scripts_find_every_quantity_by_its_name() {
        let row = |(units, mb): (u16, f64)| UnitsRow {
            units,
            block: Bytes::kib(64),
            rate: Throughput::from_mb_per_s(mb),
        };
        let table = UnitsTable { rows: [(1, 9.0), (2, 9.0), (3, 1.0)].map(row).to_vec() };
        let geometry = infer(&Observations { linear: vec![table], ..Observations::default() });
        let json = serde_json::to_value(&geometry).unwrap();
        assert_eq!(json["open_units_linear"]["value"], 2);
        assert_eq!(json["open_units_linear"]["unit"], "allocation units");
        assert!(json["open_units_linear"]["probability"].as_f64().unwrap() > 0.5);
        assert_eq!(json["mapping"]["value"], "units");
        assert_eq!(json["page"]["cannot_be_seen"], "it was not measured");
        assert_eq!(json.as_object().unwrap().len(), 10);
    }
}
