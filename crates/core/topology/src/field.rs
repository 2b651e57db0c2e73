//! Finite fields, of which several families are made.

/// The field of `size` elements, which are the numbers below that: 0 and 1 are its zero and one.
#[derive(Debug)]
pub(crate) struct Field {
    size: usize,
    /// By both numbers.
    sums: Vec<u16>,
    products: Vec<u16>,
}

impl Field {
    /// `None`: the size is no power of a prime, or is greater than 256.
    pub(crate) fn new(size: usize) -> Option<Self> {
        let (prime, degree) = prime_power(size)?;
        // An element's number has the coefficients of a polynomial as digits, the lowest first.
        let digits = |n: usize| (0..degree).map(|i| n / prime.pow(i) % prime).collect::<Vec<_>>();
        let number = |digits: &[usize]| digits.iter().rev().fold(0, |n, digit| n * prime + digit);
        let modulus = irreducible(prime, degree);
        let (mut sums, mut products) = (vec![0; size * size], vec![0; size * size]);
        for (a, b) in (0..size).flat_map(|a| (0..size).map(move |b| (a, b))) {
            let (x, y) = (digits(a), digits(b));
            let sum: Vec<_> = x.iter().zip(&y).map(|(x, y)| (x + y) % prime).collect();
            let product = remainder(times(&x, &y, prime), &modulus, prime);
            sums[a * size + b] = number(&sum) as u16;
            products[a * size + b] = number(&product) as u16;
        }
        Some(Self { size, sums, products })
    }

    pub(crate) fn plus(&self, a: usize, b: usize) -> usize {
        self.sums[a * self.size + b].into()
    }

    pub(crate) fn times(&self, a: usize, b: usize) -> usize {
        self.products[a * self.size + b].into()
    }

    /// The powers of an element that has all but zero as its powers, from the first power, 1, on.
    pub(crate) fn powers(&self) -> Vec<usize> {
        let of = |root: usize| {
            let next = |power: &usize| Some(self.times(*power, root)).filter(|next| *next != 1);
            std::iter::successors(Some(1), next).take(self.size).collect::<Vec<_>>()
        };
        let is_whole = |powers: &Vec<usize>| powers.len() == self.size - 1;
        (1..self.size).map(of).find(is_whole).expect("every finite field has such an element")
    }
}

/// The prime and the exponent of a number up to 256.
fn prime_power(size: usize) -> Option<(usize, u32)> {
    let prime = (2..=size.min(256)).find(|n| size.is_multiple_of(*n))?;
    let degree = (1..=8).find(|degree| prime.pow(*degree) == size)?;
    (size <= 256).then_some((prime, degree))
}

/// The product of two polynomials.
fn times(a: &[usize], b: &[usize], prime: usize) -> Vec<usize> {
    let mut product = vec![0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            product[i + j] = (product[i + j] + x * y) % prime;
        }
    }
    product
}

/// What a polynomial leaves when it is divided by one whose highest coefficient is 1.
fn remainder(mut a: Vec<usize>, modulus: &[usize], prime: usize) -> Vec<usize> {
    let degree = modulus.len() - 1;
    while a.len() > degree {
        let high = a.pop().expect("it is longer than the modulus");
        let from = a.len() - degree;
        for (i, m) in modulus[..degree].iter().enumerate() {
            a[from + i] = (a[from + i] + (prime - high) * m) % prime;
        }
    }
    a
}

/// The first polynomial of this degree, with a highest coefficient of 1, that is no product of others.
fn irreducible(prime: usize, degree: u32) -> Vec<usize> {
    let all = |degree: u32| {
        let low = move |n: usize| (0..degree).map(move |i| n / prime.pow(i) % prime);
        (0..prime.pow(degree)).map(move |n| low(n).chain([1]).collect::<Vec<_>>())
    };
    let divides = |divisor: &Vec<usize>, of: &[usize]| {
        remainder(of.to_vec(), divisor, prime).iter().all(|coefficient| *coefficient == 0)
    };
    let has_none = |of: &Vec<usize>| !(1..=degree / 2).flat_map(all).any(|divisor| divides(&divisor, of));
    all(degree).find(has_none).expect("there is one of each degree")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_the_laws() {
        for size in [2, 3, 4, 5, 8, 9, 16, 25, 27] {
            let field = Field::new(size).unwrap();
            let all = || 0..size;
            for (a, b) in all().flat_map(|a| all().map(move |b| (a, b))) {
                assert_eq!(field.plus(a, b), field.plus(b, a));
                assert_eq!(field.times(a, b), field.times(b, a));
                assert_eq!(field.times(a, b) == 0, a == 0 || b == 0, "{size}: {a} times {b}");
                for c in all() {
                    let apart = field.plus(field.times(a, b), field.times(a, c));
                    assert_eq!(field.times(a, field.plus(b, c)), apart, "{size}: {a} times {b} and {c}");
                }
            }
            let mut powers = field.powers();
            powers.sort_unstable();
            assert_eq!(powers, (1..size).collect::<Vec<_>>());
        }
    }

    #[test]
    fn sizes_without_a_field_are_told() {
        for size in [0, 1, 6, 10, 12, 15, 257, 512] {
            assert!(Field::new(size).is_none(), "{size}");
        }
        assert!(Field::new(256).is_some() && Field::new(251).is_some());
    }
}
