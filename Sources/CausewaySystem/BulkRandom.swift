/// Random numbers from the kernel, fetched in batches, because one system call for each number would be slow.
package struct BulkRandom: RandomNumberGenerator, Sendable {
    /// The number of random numbers in a batch. They fill 256 bytes, the maximum for one call (getentropy(3)).
    private static let count = 32

    private var numbers: [UInt64] = []

    package init() {}

    package mutating func next() -> UInt64 {
        if let number = numbers.popLast() { return number }
        numbers = [UInt64](repeating: 0, count: Self.count)
        let isFilled = numbers.withUnsafeMutableBytes { buffer in
            buffer.baseAddress.map { getentropy($0, buffer.count) == 0 } ?? false
        }
        guard isFilled else {
            // `getentropy` failed, so use the standard library's generator. This generator also tries another source,
            // and ends the program if no source works.
            numbers = []
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
        return numbers.removeLast()
    }
}
