//! The classes that a card claims in its registers.

use cardproof_facts::Class;
use cardproof_record::Claims;

/// The names of the classes that `claims` holds, as printed on cards, recording classes first.
/// A number that is no class is left out.
pub(crate) fn claimed(claims: &Claims) -> Vec<&'static Class> {
    let families = [
        ("C", claims.speed_class),
        ("U", claims.uhs_grade),
        ("V", claims.video_class),
        ("A", claims.application_class),
    ];
    families
        .into_iter()
        .filter_map(|(letter, number)| Class::named(&format!("{letter}{}", number?)))
        .collect()
}
