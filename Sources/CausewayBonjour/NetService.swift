internal import Causeway
internal import CausewayProtocols
internal import CausewayRuntime
public import Foundation

/// A service of the local network: one that this program publishes, or one that it has found and resolves.
///
/// Everything is told to the delegate in a run loop: that of the thread which made the service, in its default mode, unless
/// ``schedule(in:forMode:)`` says otherwise. An object does one thing at a time. It belongs to the thread of its run loop.
///
/// Counterpart: `NetService`, macOS 10.2, iOS 2.
open class NetService: NSObject {
    /// How to publish.
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Fail if somebody else has the name, instead of choosing another.
        public static let noAutoRename = Options(rawValue: 1 << 0)
        /// Listen at the port, or at any free one for port 0, and hand each connection to the delegate as a pair of streams. TCP only.
        public static let listenForConnections = Options(rawValue: 1 << 1)
    }

    /// Why something was not done.
    public enum ErrorCode: Int, Sendable {
        case unknownError = -72000
        /// Somebody else has the name.
        case collisionError = -72001
        /// Nobody has such a service.
        case notFoundError = -72002
        /// The object is doing something already.
        case activityInProgress = -72003
        /// A type, name, domain or port that cannot be.
        case badArgumentError = -72004
        case cancelledError = -72005
        case invalidError = -72006
        /// Nobody answered in time.
        case timeoutError = -72007
        case missingRequiredConfigurationError = -72008
    }

    /// The key of an ``ErrorCode`` in the dictionaries that the delegate is given.
    public class var errorCode: String { "NSNetServicesErrorCode" }
    /// The key of the error's domain in them.
    public class var errorDomain: String { "NSNetServicesErrorDomain" }

    enum Activity {
        case publishing(RegistrationID?, NWListener?)
        case resolving(ServiceLookup)
    }

    /// Told everything. Not retained.
    open weak var delegate: (any NetServiceDelegate)?
    /// Kept, without effect.
    open var includesPeerToPeer = false
    /// The name; once published, the one that the service got.
    open internal(set) var name: String
    /// Such as `_http._tcp.`.
    public let type: String
    /// Such as `local.`; empty for the default.
    public let domain: String
    /// The host that a resolved service is on.
    open internal(set) var hostName: String?
    /// The port; -1 before it is known.
    open internal(set) var port: Int
    /// The addresses of a resolved service, each a `sockaddr_in` or `sockaddr_in6`.
    open internal(set) var addresses: [Data]?

    var textRecord: Data?
    var activity: Activity?
    /// Tells the events of one activity from those of another.
    private(set) var activityNumber = 0
    var monitor: ServiceLookup?
    private(set) lazy var events = RunLoopEvents<NetService>(self)

    /// A service to publish.
    ///
    /// - Parameters:
    ///   - domain: `local.`, or empty for the default, which is the same.
    ///   - type: Such as `_http._tcp.`.
    ///   - name: Any text of at most 63 bytes; empty for the host's name.
    ///   - port: Where it is served.
    public init(domain: String, type: String, name: String, port: Int32) {
        self.domain = domain
        self.type = type
        self.name = name
        self.port = Int(port)
        super.init()
        events.schedule(in: .current, .default)
    }

    /// A service to resolve.
    public convenience init(domain: String, type: String, name: String) {
        self.init(domain: domain, type: type, name: name, port: -1)
    }

    deinit {
        end()
        monitor?.end()
        events.end()
    }

    /// Has the delegate called in a run loop as well.
    open func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { events.schedule(in: aRunLoop, mode) }

    /// Ends what ``schedule(in:forMode:)`` began, or the scheduling that a new service has.
    open func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { events.remove(from: aRunLoop, mode) }

    /// Stops publishing or resolving. The delegate is told.
    open func stop() {
        guard end() else { return }
        events.add { service, _ in service.value.delegate?.netServiceDidStop(service.value) }
    }

    /// Returns whether there was anything to end.
    @discardableResult
    func end() -> Bool {
        guard let ended = activity.take() else { return false }
        activityNumber += 1
        switch ended {
        case .publishing(let registration, let listener):
            listener?.cancel()
            if let registration { BonjourEngine.shared.withdraw(registration) }
        case .resolving(let lookup): lookup.end()
        }
        return true
    }

    /// Name, type and domain are the service, whatever else is known of it.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NetService else { return false }
        return name == other.name && type == other.type && domain == other.domain
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(type)
        hasher.combine(domain)
        return hasher.finalize()
    }

    open override var description: String { "\(name).\(type)\(domain)" }

    var endpoint: NWEndpoint { .service(name: name, type: type, domain: domain, interface: nil) }

    static func dictionary(_ code: ErrorCode) -> [String: NSNumber] {
        // The domain of these numbers, as Apple counts domains.
        [errorCode: NSNumber(value: code.rawValue), errorDomain: NSNumber(value: 10)]
    }
}
