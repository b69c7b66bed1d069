/// The kernel's random numbers, fetched many at a time: a system call for each would cost more than the number.
package struct BulkRandom: RandomNumberGenerator, Sendable {
    /// 256 bytes are the most that come at once (getentropy(3)).
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
            // A kernel that gives none in this way: the standard library knows others, and ends the program without any.
            numbers = []
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
        return numbers.removeLast()
    }
}
