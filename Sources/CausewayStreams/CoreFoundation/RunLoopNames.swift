public import Causeway
internal import CausewaySystem
public import Foundation

// Names of Core Foundation for run loops, which old programs give to functions that schedule something in one. Foundation on Linux
// has only `RunLoop`.

/// A run loop, for the functions of Core Foundation that schedule something in one. Two are equal if they are the same loop.
///
/// Counterpart: macOS 10.0, iOS 2.
public final class CFRunLoop: Hashable, Sendable {
    private let loop: Unchecked<RunLoop>

    package init(_ loop: RunLoop) { self.loop = Unchecked(loop) }

    /// The same loop as Foundation has it.
    package var runLoop: RunLoop { loop.value }

    public static func == (lhs: CFRunLoop, rhs: CFRunLoop) -> Bool { lhs.runLoop === rhs.runLoop }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(runLoop)) }
}

/// The mode of a run loop.
///
/// Counterpart: macOS 10.0, iOS 2.
public struct CFRunLoopMode: RawRepresentable, Hashable, Sendable {
    public let rawValue: CFString

    public init(rawValue: CFString) { self.rawValue = rawValue }

    public init(_ rawValue: CFString) { self.rawValue = rawValue }

    /// The mode of a loop that nothing special has been asked of.
    public static let defaultMode = CFRunLoopMode(rawValue: RunLoop.Mode.default.rawValue)
    /// All modes that were declared common.
    public static let commonModes = CFRunLoopMode(rawValue: RunLoop.Mode.common.rawValue)
}

/// The run loop of the main thread.
///
/// Counterpart: macOS 10.0, iOS 2.
public func CFRunLoopGetMain() -> CFRunLoop { CFRunLoop(.main) }

/// The run loop of the calling thread.
///
/// Counterpart: macOS 10.0, iOS 2.
public func CFRunLoopGetCurrent() -> CFRunLoop { CFRunLoop(.current) }

extension RunLoop {
    /// The same loop for functions of Core Foundation.
    public func getCFRunLoop() -> CFRunLoop { CFRunLoop(self) }
}
