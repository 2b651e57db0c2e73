//! Whole jobs computed tile by tile, without cards, against the same computed at once.

use rackloom_image::Manifest;

use super::*;

/// Runs a kernel written in Rust on every tile, in a memory like a card's.
fn run(work: &mut ArrayWork, kernel: impl Fn(&mut [u8], &[u64])) {
    for tile in 0..work.tiles() {
        let t = work.inputs(tile);
        let mut memory = Vec::new();
        let mut addresses = Vec::new();
        for input in &t.inputs {
            addresses.push(memory.len() as u64);
            memory.extend_from_slice(input);
            memory.resize(memory.len().next_multiple_of(64), 0);
        }
        let output = memory.len();
        memory.resize(output + t.output as usize, 0xEE);
        assert!(memory.len() as u64 <= work.tile_bytes(), "a tile is larger than promised");
        let word = |arg: &Arg| match arg {
            Arg::Input(i) => addresses[*i],
            Arg::Output(offset) => output as u64 + offset,
            Arg::Value(v) => *v,
        };
        let args: Vec<_> = t.args.iter().map(word).collect();
        kernel(&mut memory, &args);
        work.output(tile, memory.split_off(output).into());
    }
}

fn kernel(json: &str) -> Kernel {
    let manifest = format!(r#"{{"name":"test","version":"1","kernels":[{json}]}}"#);
    Manifest::from_json(manifest.as_bytes()).unwrap().kernels.remove(0)
}

fn make(kernel: &Kernel, inputs: BTreeMap<String, Array>, cards: usize, room: u64) -> Result<ArrayWork, ArrayError> {
    ArrayWork::new(3, kernel, inputs, BTreeMap::new(), Sizing { cards, room })
}

fn ptrans() -> Kernel {
    kernel(
        r#"{"name":"ptrans","args":["c","a","b","i","j"],"tile":{"i":64,"j":64},"arrays":[
        {"name":"a","dtype":"i32","index":"ji","dir":"in"},
        {"name":"b","dtype":"i32","index":"ij","dir":"in"},
        {"name":"c","dtype":"i32","index":"ij","dir":"out"}]}"#,
    )
}

fn i32s(shape: &[usize], seed: i32) -> Array {
    let n: usize = shape.iter().product();
    let data: Vec<u8> = (0..n as i32).flat_map(|i| i.wrapping_mul(seed).wrapping_add(seed).to_le_bytes()).collect();
    Array::new(Dtype::I32, shape.to_vec(), data.into()).unwrap()
}

fn get(bytes: &[u8], base: u64, i: usize) -> i32 {
    let at = base as usize + 4 * i;
    i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn set(bytes: &mut [u8], base: u64, i: usize, v: i32) {
    let at = base as usize + 4 * i;
    bytes[at..at + 4].copy_from_slice(&v.to_le_bytes());
}

fn named<const N: usize>(arrays: [(&str, Array); N]) -> BTreeMap<String, Array> {
    arrays.into_iter().map(|(name, array)| (name.to_owned(), array)).collect()
}

fn ptrans_tile(m: &mut [u8], args: &[u64]) {
    let &[c, a, b, i, j] = args else { panic!("five arguments") };
    for y in 0..i as usize {
        for x in 0..j as usize {
            let v = get(m, b, y * j as usize + x).wrapping_add(get(m, a, x * i as usize + y));
            set(m, c, y * j as usize + x, v);
        }
    }
}

#[test]
fn a_transposed_sum_of_odd_sizes_is_that_of_the_whole() {
    for (rows, columns, cards) in [(1, 1, 1), (1, 200, 3), (131, 67, 1), (257, 300, 20), (64, 64, 4), (65, 129, 7)] {
        let (a, b) = (i32s(&[columns, rows], 7), i32s(&[rows, columns], 1001));
        let inputs = named([("a", a.clone()), ("b", b.clone())]);
        let mut work = make(&ptrans(), inputs, cards, 1 << 20).unwrap();
        run(&mut work, ptrans_tile);
        let c = work.into_outputs().remove("c").unwrap();
        assert_eq!(c.shape, [rows, columns]);
        for y in 0..rows {
            for x in 0..columns {
                let want = get(&b.data, 0, y * columns + x).wrapping_add(get(&a.data, 0, x * rows + y));
                assert_eq!(get(&c.data, 0, y * columns + x), want, "{rows}x{columns} at {y},{x}");
            }
        }
    }
}

#[test]
fn a_product_passes_the_summed_dimension_whole() {
    let gemm = kernel(
        r#"{"name":"gemm","args":["c","a","b","i","j","k"],"tile":{"i":32,"j":32},"arrays":[
        {"name":"a","dtype":"i32","index":"ik","dir":"in"},
        {"name":"b","dtype":"i32","index":"kj","dir":"in"},
        {"name":"c","dtype":"i32","index":"ij","dir":"out"}]}"#,
    );
    let (i, j, k) = (45, 83, 29);
    let (a, b) = (i32s(&[i, k], 3), i32s(&[k, j], 5));
    let at = |m: &[u8], c: u64, y: usize, x: usize, w: usize| get(m, c, y * w + x);
    let sum = |ma: &[u8], a, mb: &[u8], b, y, x, j, k| {
        (0..k).fold(0i32, |s, z| s.wrapping_add(at(ma, a, y, z, k).wrapping_mul(at(mb, b, z, x, j))))
    };
    let inputs = named([("a", a.clone()), ("b", b.clone())]);
    let mut work = make(&gemm, inputs, 4, 1 << 20).unwrap();
    assert!(work.tiles() > 1);
    run(&mut work, |m, args| {
        let &[c, a, b, i, j, k] = args else { panic!("six arguments") };
        for y in 0..i as usize {
            for x in 0..j as usize {
                let v = sum(m, a, m, b, y, x, j as usize, k as usize);
                set(m, c, y * j as usize + x, v);
            }
        }
    });
    let c = work.into_outputs().remove("c").unwrap();
    for y in 0..i {
        for x in 0..j {
            assert_eq!(get(&c.data, 0, y * j + x), sum(&a.data, 0, &b.data, 0, y, x, j, k));
        }
    }
}

#[test]
fn a_halo_repeats_the_border() {
    let blur = kernel(
        r#"{"name":"blur","args":["o","x","i","j"],"tile":{"i":16,"j":48},"halo":{"i":2,"j":1},"arrays":[
        {"name":"x","dtype":"i32","index":"ij","dir":"in","halo":true},
        {"name":"o","dtype":"i32","index":"ij","dir":"out"}]}"#,
    );
    for (rows, columns) in [(1, 1), (3, 100), (50, 97)] {
        let x = i32s(&[rows, columns], 17);
        let mut work = make(&blur, named([("x", x.clone())]), 5, 1 << 20).unwrap();
        run(&mut work, |m, args| {
            let &[o, x, i, j] = args else { panic!("four arguments") };
            let (i, j) = (i as usize, j as usize);
            for y in 0..i {
                for c in 0..j {
                    let cells = (0..5).flat_map(|dy| (0..3).map(move |dx| (y + dy) * (j + 2) + c + dx));
                    let v = cells.fold(0i32, |s, at| s.wrapping_add(get(m, x, at)));
                    set(m, o, y * j + c, v);
                }
            }
        });
        let o = work.into_outputs().remove("o").unwrap();
        let clamp = |v: isize, most: usize| v.clamp(0, most as isize - 1) as usize;
        for y in 0..rows as isize {
            for c in 0..columns as isize {
                let cells = (-2..=2).flat_map(|dy| (-1..=1).map(move |dx| (y + dy, c + dx)));
                let want = cells.fold(0i32, |s, (y, c)| {
                    s.wrapping_add(get(&x.data, 0, clamp(y, rows) * columns + clamp(c, columns)))
                });
                assert_eq!(get(&o.data, 0, y as usize * columns + c as usize), want, "{rows}x{columns} at {y},{c}");
            }
        }
    }
}

#[test]
fn a_piece_of_a_vector_is_not_copied_and_outputs_start_at_beats() {
    let two = kernel(
        r#"{"name":"two","args":["x","p","q","i"],"tile":{"i":4096},"arrays":[
        {"name":"x","dtype":"i32","index":"i","dir":"in"},
        {"name":"p","dtype":"u8","index":"i","dir":"out"},
        {"name":"q","dtype":"i32","index":"i","dir":"out"}]}"#,
    );
    let x = i32s(&[10_001], 9);
    let mut work = make(&two, named([("x", x.clone())]), 1, 1 << 20).unwrap();
    let tile = work.inputs(1);
    assert_eq!(tile.kernel, 3);
    let inside = x.data.as_ptr_range();
    assert!(inside.contains(&tile.inputs[0].as_ptr()), "the tile is a copy");
    run(&mut work, |m, args| {
        let &[x, p, q, i] = args else { panic!("four arguments") };
        assert_eq!((p % 64, q % 64), (0, 0));
        for at in 0..i as usize {
            let v = get(m, x, at);
            m[p as usize + at] = v as u8;
            set(m, q, at, v.wrapping_neg());
        }
    });
    let outputs = work.into_outputs();
    for at in 0..10_001 {
        let v = get(&x.data, 0, at);
        assert_eq!(outputs["p"].data[at], v as u8);
        assert_eq!(get(&outputs["q"].data, 0, at), v.wrapping_neg());
    }
}

#[test]
fn tiles_shrink_until_every_card_has_enough() {
    let plan = |order: usize, cards| {
        let inputs = named([("a", i32s(&[order, order], 1)), ("b", i32s(&[order, order], 1))]);
        make(&ptrans(), inputs, cards, 1 << 30).unwrap().plan().clone()
    };
    assert_eq!(plan(640, 1).tiles(), 100, "preferred tiles are enough");
    assert!(plan(512, 20).tiles() >= 80);
    assert!(plan(128, 256).tile_bytes() >= TILE_LEAST, "tiny tiles are not worth their frames");
    let even = plan(130, 1).tile_extents();
    assert!(even.values().all(|&e| e == 48), "130 is cut into 48, 48 and 34, not 64, 64 and 2: {even:?}");
}

/// Half the least that a plan shrinks below.
const TILE_LEAST: u64 = 8 << 10;

#[test]
fn tiles_shrink_to_the_room_of_a_card() {
    let order = 512;
    let mut wide = ptrans();
    wide.tile = [('i', 512), ('j', 512)].into();
    let inputs = || named([("a", i32s(&[order, order], 1)), ("b", i32s(&[order, order], 1))]);
    let work = make(&wide, inputs(), 1, 40_000).unwrap();
    assert!(work.tile_bytes() <= 40_000);
    let error = make(&wide, inputs(), 1, 191).unwrap_err();
    assert_eq!(error, ArrayError::Room { kernel: "ptrans".into(), need: 192, room: 191 });
}

#[test]
fn arrays_that_do_not_fit_are_named() {
    let fails = |inputs| make(&ptrans(), inputs, 1, 1 << 20).unwrap_err().to_string();
    let good = || i32s(&[4, 6], 1);
    assert_eq!(
        fails(named([("a", good()), ("b", i32s(&[6, 5], 1))])),
        "array `b` has extent 5 in dimension `j`, but `a` has 4"
    );
    assert_eq!(
        fails(named([("a", good())])),
        "kernel `ptrans` needs input `b`, which is missing; its inputs are a[ji], b[ij]"
    );
    assert!(fails(named([("a", good()), ("x", good())])).contains("has no input `x`"));
    assert!(fails(named([("a", good()), ("b", i32s(&[4], 1))])).contains("has 1 dimensions"));
    assert!(fails(named([("a", i32s(&[0, 6], 1)), ("b", good())])).contains("is empty"));
    let bytes = Array::new(Dtype::U8, vec![6, 4], vec![0; 24].into()).unwrap();
    assert_eq!(fails(named([("a", good()), ("b", bytes)])), "array `b` holds |u1 but the kernel takes <i4");
    assert!(Array::new(Dtype::F64, vec![2, usize::MAX], Bytes::new()).is_err());
}

#[test]
fn scalars_are_passed_and_checked() {
    let scale = kernel(
        r#"{"name":"scale","args":["f","x","y","i"],"tile":{"i":64},"scalars":[{"name":"f","dtype":"i16"}],"arrays":[
        {"name":"x","dtype":"i32","index":"i","dir":"in"},
        {"name":"y","dtype":"i32","index":"i","dir":"out"}]}"#,
    );
    let new = |scalars: &[(&str, u64)]| {
        let scalars = scalars.iter().map(|(name, word)| ((*name).to_owned(), *word)).collect();
        let inputs = named([("x", i32s(&[100], 1))]);
        ArrayWork::new(0, &scale, inputs, scalars, Sizing { cards: 1, room: 1 << 20 })
    };
    let tile = new(&[("f", 0xfffe)]).unwrap().inputs(0);
    assert_eq!(tile.args[0], Arg::Value(0xfffe));
    assert_eq!(new(&[]).unwrap_err().to_string(), "kernel `scale` needs scalar `f`; its scalars are f (i16)");
    assert!(new(&[("f", 1), ("g", 1)]).unwrap_err().to_string().contains("has no scalar `g`"));
}
