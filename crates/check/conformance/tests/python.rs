//! The card that was written in Python from the documentation: what every card does, this one does.

mod suite {
    use rackloom_conformance::PythonCard;

    rackloom_conformance::suite!(cards of PythonCard);
}
