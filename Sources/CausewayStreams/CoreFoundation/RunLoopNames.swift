public import Causeway
internal import CausewaySystem
public import Foundation

// Core Foundation's names for run loops. Older programs use these names in calls of scheduling functions. Foundation on
// Linux has only `RunLoop`.

/// A run loop for Core Foundation scheduling functions. Two values are equal if they refer to the same run loop.
///
/// Counterpart: macOS 10.0, iOS 2.
public final class CFRunLoop: Hashable, Sendable {
    private let loop: Unchecked<RunLoop>

    package init(_ loop: RunLoop) { self.loop = Unchecked(loop) }

    /// The run loop as a Foundation object.
    package var runLoop: RunLoop { loop.value }

    /// Whether both values refer to the same run loop.
    public static func == (lhs: CFRunLoop, rhs: CFRunLoop) -> Bool { lhs.runLoop === rhs.runLoop }

    /// Hashes the run loop's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(runLoop)) }
}

/// A run loop mode.
///
/// Counterpart: macOS 10.0, iOS 2.
public struct CFRunLoopMode: RawRepresentable, Hashable, Sendable {
    /// The mode's name.
    public let rawValue: CFString

    /// Creates a mode from its name.
    public init(rawValue: CFString) { self.rawValue = rawValue }

    /// Creates a mode from its name.
    public init(_ rawValue: CFString) { self.rawValue = rawValue }

    /// The run loop's default mode.
    public static let defaultMode = CFRunLoopMode(rawValue: RunLoop.Mode.default.rawValue)
    /// All modes declared as common.
    public static let commonModes = CFRunLoopMode(rawValue: RunLoop.Mode.common.rawValue)
}

/// Returns the run loop of the main thread.
///
/// Counterpart: macOS 10.0, iOS 2.
public func CFRunLoopGetMain() -> CFRunLoop { CFRunLoop(.main) }

/// Returns the run loop of the calling thread.
///
/// Counterpart: macOS 10.0, iOS 2.
public func CFRunLoopGetCurrent() -> CFRunLoop { CFRunLoop(.current) }

extension RunLoop {
    /// Returns the run loop as a Core Foundation value.
    public func getCFRunLoop() -> CFRunLoop { CFRunLoop(self) }
}
