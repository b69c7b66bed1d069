// The drop-in for sources that say `import Network`. Apple's module brings Foundation and Dispatch into view with it;
// so does this one. `Causeway` itself does not.
@_exported public import Causeway
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import FoundationNetworking

/// The domain, the code and the information dictionary that `NSError` shows are those of ``NWError``.
///
/// Counterpart: macOS 13.3, iOS 16.4.
extension NWError: CustomNSError {}

/// The type that pre-shared-key programs cast a `DispatchData` to.
public typealias __DispatchData = DispatchData

/// The type that pre-shared-key programs cast a `DispatchData` to.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias dispatch_data_t = DispatchData

/// Queues compare by identity, as they do on Apple platforms: `listener.queue == queue`.
extension DispatchQueue: @retroactive Equatable {
    public static func == (lhs: DispatchQueue, rhs: DispatchQueue) -> Bool {
        if lhs === rhs { return true }
        guard let left = lhs.underlyingQueue, let right = rhs.underlyingQueue else { return false }
        return left == right
    }

    /// The queue inside the Swift object: `DispatchQueue.main` makes a new object on each access.
    private var underlyingQueue: OpaquePointer? {
        Mirror(reflecting: self).children.first?.value as? OpaquePointer
    }
}
