internal import CausewayClient
public import Foundation
public import CausewayURLLoading

/// The rules of one operation that differ from those of the engine.
public struct OfflineOptions: Hashable, Sendable {
    /// How the content of a file is kept until it is sent.
    public enum FileHandling: Hashable, Sendable {
        /// The file is copied into the directory of the queue.
        case copy
        /// The file stays where it is. If it is missing or has changed when it is sent, the operation ends as ``/CausewayReplay/OfflineOutcome/invalid(_:)``.
        case reference
    }

    /// The lane. The default is the lane with the empty name. Use the name of a resource where operations on different resources do not depend on each other.
    public var lane: String
    /// The age at which the operation ends without being sent; `nil` for that of the engine.
    public var maximumAge: Duration?
    /// The maximum number of attempts; `nil` for that of the engine.
    public var maximumAttempts: Int?
    /// How a file is kept. The default is ``FileHandling/copy``.
    public var fileHandling = FileHandling.copy
    /// Whether a success is kept as a report as well. The default is `false`: only other outcomes are kept.
    public var reportsSuccess = false

    /// Creates options.
    public init(lane: String = "", maximumAge: Duration? = nil, maximumAttempts: Int? = nil) {
        self.lane = lane
        self.maximumAge = maximumAge
        self.maximumAttempts = maximumAttempts
    }
}

/// The response of an operation that the server has refused, for the resolver.
public struct OfflineConflict: Sendable {
    /// The operation.
    public let operation: OfflineOperation
    /// The response without its content.
    public let response: HTTPURLResponse
    /// The content of the response.
    public let content: Data
}

/// The end of an operation in this process.
public struct OfflineResult: Sendable {
    /// The outcome.
    public let outcome: OfflineOutcome
    /// The last response; `nil` if none arrived in this process.
    public let response: HTTPURLResponse?
    /// The content of the response.
    public let content: Data
}

/// A change of an offline queue.
public struct OfflineEvent: Sendable, CustomStringConvertible {
    /// The kind of a change.
    public enum Kind: Sendable {
        /// The operation is stored.
        case queued
        /// The operation is being sent.
        case sending(attempt: Int)
        /// The operation waits after an attempt.
        case waiting
        /// The lane stops at the operation.
        case stopped(OfflineStop)
        /// The operation has another request.
        case edited
        /// The operation has another place in its lane, or its lane continues.
        case moved
        /// The operation has ended.
        case ended(OfflineOutcome)
        /// A change could not be stored. It is in effect and is stored later, when the storage works again.
        case storageFailed(String)
    }

    /// The operation.
    public let id: OfflineOperation.ID
    /// The kind of the change.
    public let kind: Kind

    /// The event in one line.
    public var description: String { "\(id): \(kind)" }
}
