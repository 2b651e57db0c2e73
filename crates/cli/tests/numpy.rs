//! Files that NumPy makes, results that NumPy checks.

mod common;

use common::Rack;

#[test]
fn each_role_agrees_with_numpy() {
    let rack = Rack::up(&["--cards", "4"]);
    rack.python(
        "import numpy as np; r = np.random.default_rng(7)\n\
         for name, shape in dict(A=(1237, 911), B=(911, 1237), X=(99991,), Y=(99991,), G=(201, 333), H=(333, 157)).items():\n\
         \x20   np.save(name, r.standard_normal(shape, dtype=np.float32))\n\
         np.save('P', r.integers(0, 256, (480, 641), dtype=np.uint8))",
    );
    rack.json(&["load", "ptrans"]);
    for args in [
        &["ptrans", "A.npy", "B.npy", "-o", "C.npy"][..],
        &["vadd", "X.npy", "Y.npy", "-o", "Z.npy"],
        &["gemm", "G.npy", "H.npy", "-o", "K.npy"],
        &["sobel", "P.npy", "-o", "Q.npy"],
    ] {
        rack.json(&[&["run"], args].concat());
    }
    let said = rack.python(
        "import numpy as np\n\
         f = lambda n: np.load(n + '.npy')\n\
         p = np.pad(f('P').astype(np.int32), 1, mode='edge')\n\
         v = p[:-2] + 2 * p[1:-1] + p[2:]; h = p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]\n\
         edges = np.minimum(np.abs(v[:, 2:] - v[:, :-2]) + np.abs(h[2:] - h[:-2]), 255)\n\
         print(np.array_equal(f('C'), f('B') + f('A').T), np.array_equal(f('Z'), f('X') + f('Y')),\n\
         \x20     np.allclose(f('K'), f('G').astype(np.float64) @ f('H'), rtol=1e-4, atol=1e-4),\n\
         \x20     np.array_equal(f('Q'), edges), f('C').dtype, f('Q').dtype)",
    );
    assert_eq!(said.trim(), "True True True True float32 uint8");
}
