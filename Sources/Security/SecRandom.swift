internal import Causeway

/// A source of random bytes.
///
/// Counterpart: macOS 10.7, iOS 2.
public final class SecRandom: Sendable {
    fileprivate init() {}
}

/// Apple's name for ``SecRandom``.
///
/// Counterpart: macOS 10.7, iOS 2.
public typealias SecRandomRef = SecRandom

/// The system's random source: `nil`, as on Apple platforms.
///
/// Counterpart: macOS 10.7, iOS 2.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with cryptographically secure random bytes.
///
/// - Parameters:
///   - rnd: Ignored.
///   - count: The number of bytes.
///   - bytes: The memory to fill, at least `count` bytes.
/// - Returns: `errSecSuccess`, or `errSecParam` for a negative count.
///
/// Counterpart: macOS 10.7, iOS 2.
@discardableResult
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    guard count >= 0 else { return errSecParam }
    var random = SystemRandomNumberGenerator()
    let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: count)
    for index in buffer.indices { buffer[index] = UInt8.random(in: .min ... .max, using: &random) }
    return errSecSuccess
}
