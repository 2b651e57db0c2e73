//! The card in Python: what every card does, this one does.

mod suite {
    use rackloom_conformance::PythonCard;

    rackloom_conformance::suite!(cards of PythonCard);
}
