internal import CausewayClient
public import Foundation
public import CausewayURLLoading

/// The rules for one operation that differ from the engine's rules.
public struct OfflineOptions: Hashable, Sendable {
    /// How a file's content is kept until it is sent.
    public enum FileHandling: Hashable, Sendable {
        /// The file is copied into the queue's directory.
        case copy
        /// The file stays in its place. If it is missing or has changed when it is to be sent, the operation ends with
        /// ``/CausewayHTTPProtocols/OfflineOutcome/invalid(_:)``.
        case reference
    }

    /// The name of the operation's lane; empty by default. Operations in the same lane are sent one after the other. If
    /// operations on different resources are independent of each other, use the names of the resources.
    public var lane: String
    /// The age at which the operation ends without being sent; `nil` for the engine's default.
    public var maximumAge: Duration?
    /// The maximum number of attempts; `nil` for the engine's default.
    public var maximumAttempts: Int?
    /// How a file's content is preserved until the operation is sent. The default is ``FileHandling/copy``.
    public var fileHandling = FileHandling.copy
    /// Whether the engine also stores a report if the operation succeeds. The default is `false`: the engine stores
    /// reports only about operations that ended without success.
    public var reportsSuccess = false

    /// Creates options.
    public init(lane: String = "", maximumAge: Duration? = nil, maximumAttempts: Int? = nil) {
        self.lane = lane
        self.maximumAge = maximumAge
        self.maximumAttempts = maximumAttempts
    }
}

/// A refused operation and the server's response. The program's resolver receives both.
public struct OfflineConflict: Sendable {
    /// The operation.
    public let operation: OfflineOperation
    /// The response without its content.
    public let response: HTTPURLResponse
    /// The response's content. For statuses from 400, it is cut to the client's `maximumErrorContentLength`.
    public let content: Data
}

/// The result of an ended operation. It includes the server's response if the engine still has the response in memory.
public struct OfflineResult: Sendable {
    /// The outcome.
    public let outcome: OfflineOutcome
    /// The latest response to the operation; `nil` if this process has received no response.
    public let response: HTTPURLResponse?
    /// The latest response's content; empty if there is none.
    public let content: Data
}

/// A change in an offline queue, for example: an operation was stored.
public struct OfflineEvent: Sendable, CustomStringConvertible {
    /// A kind of change.
    public enum Kind: Sendable {
        /// The operation is stored.
        case queued
        /// The operation is being sent.
        case sending(attempt: Int)
        /// The operation waits again after an attempt.
        case waiting
        /// The operation has stopped. The later operations in its lane must wait.
        case stopped(OfflineStop)
        /// The operation's request was replaced.
        case edited
        /// The operation has moved within its lane. Or it had stopped its lane, and the lane now continues.
        case moved
        /// The operation has ended.
        case ended(OfflineOutcome)
        /// A change could not be stored, or an operation's file could not be read. In most cases, the change is in
        /// effect nevertheless, and is stored when the storage works again. There are two exceptions:
        ///
        /// - An attempt whose start could not be stored, or whose file could not be read, is postponed.
        /// - If the resolver's new request is invalid, exceeds a limit or could not be stored, the operation stops its
        ///   lane.
        case storageFailed(String)
    }

    /// The operation.
    public let id: OfflineOperation.ID
    /// The kind of change.
    public let kind: Kind

    /// The event in one line.
    public var description: String { "\(id): \(kind)" }
}
