internal import Causeway
internal import CausewayBonjourProtocols
internal import CausewayRuntime
public import Foundation

/// A service on the local network, which this program publishes or resolves.
///
/// The delegate is called in a run loop: by default in the creating thread's run loop, in the default mode; change this
/// with ``schedule(in:forMode:)``. A service cannot be published and resolved at the same time. Use the object only on
/// the thread of its run loop.
///
/// Counterpart: `NetService`, macOS 10.2, iOS 2.
open class NetService: NSObject {
    /// Options for publishing.
    public struct Options: OptionSet, Sendable {
        /// The bits of the options, with the same values as on Apple platforms.
        public let rawValue: UInt

        /// Creates options from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Fail if another host uses the name, instead of choosing a new name.
        public static let noAutoRename = Options(rawValue: 1 << 0)
        /// Listen on the port, or on a free port for port 0, and pass each connection to the delegate as a pair of
        /// streams. This option is only for TCP services.
        public static let listenForConnections = Options(rawValue: 1 << 1)
    }

    /// An error code in the delegate's error dictionaries.
    public enum ErrorCode: Int, Sendable {
        /// An error without a more specific code.
        case unknownError = -72000
        /// Another host already uses the service name.
        case collisionError = -72001
        /// No such service was found.
        case notFoundError = -72002
        /// The object is already publishing or resolving.
        case activityInProgress = -72003
        /// An invalid type, name, domain or port.
        case badArgumentError = -72004
        /// The operation was cancelled. This code is never reported.
        case cancelledError = -72005
        /// The service configuration is invalid. This code is never reported.
        case invalidError = -72006
        /// The operation timed out.
        case timeoutError = -72007
        /// A required configuration is missing. This code is never reported.
        case missingRequiredConfigurationError = -72008
    }

    /// The key of the ``ErrorCode`` in the delegate's error dictionaries.
    public class var errorCode: String { "NSNetServicesErrorCode" }
    /// The key of the error domain in the delegate's error dictionaries.
    public class var errorDomain: String { "NSNetServicesErrorDomain" }

    enum Activity {
        case publishing(RegistrationID?, NWListener?)
        case resolving(ServiceLookup)
    }

    /// The current activity (publishing or resolving) and its number. Each event has the number of the activity that
    /// caused it. Events with another number come from earlier activities and are ignored.
    struct NumberedActivity {
        var current: Activity?
        private(set) var number = 0

        /// Ends the current activity and returns it.
        mutating func end() -> Activity? {
            guard let ended = current.take() else { return nil }
            number += 1
            return ended
        }
    }

    /// Receives all events. The delegate is not retained.
    open weak var delegate: (any NetServiceDelegate)?
    /// This property is stored, but it has no effect.
    open var includesPeerToPeer = false
    /// The service name. While the service is published: the registered name.
    open internal(set) var name: String
    /// The type, such as `_http._tcp.`.
    public let type: String
    /// The domain, such as `local.`; empty for the default.
    public let domain: String
    /// A resolved service's host name.
    open internal(set) var hostName: String?
    /// The port; -1 if unknown.
    open internal(set) var port: Int
    /// The addresses of a resolved service, each as a `sockaddr_in` or `sockaddr_in6`.
    open internal(set) var addresses: [Data]?

    var textRecord: Data?
    var activity = NumberedActivity()
    var monitor: ServiceLookup?
    private(set) lazy var events = RunLoopEvents<NetService>(self)

    /// Creates a service to publish.
    ///
    /// - Parameters:
    ///   - domain: `local.`, or empty for the default domain, which is also `local.`.
    ///   - type: The type, such as `_http._tcp.`.
    ///   - name: Any text of at most 63 bytes; empty for the host's name.
    ///   - port: The port of the service.
    public init(domain: String, type: String, name: String, port: Int32) {
        self.domain = domain
        self.type = type
        self.name = name
        self.port = Int(port)
        super.init()
        events.schedule(in: .current, .default)
    }

    /// Creates a service to resolve.
    public convenience init(domain: String, type: String, name: String) {
        self.init(domain: domain, type: type, name: name, port: -1)
    }

    deinit {
        end()
        monitor?.end()
        events.end()
    }

    /// Adds a run loop in which the delegate is called.
    open func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { events.schedule(in: aRunLoop, mode) }

    /// Removes a run loop that ``schedule(in:forMode:)`` added, or the initial run loop.
    open func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { events.remove(from: aRunLoop, mode) }

    /// Stops publishing or resolving, and reports this to the delegate.
    open func stop() {
        guard end() else { return }
        events.add { service, _ in service.value.delegate?.netServiceDidStop(service.value) }
    }

    /// Ends publishing or resolving. Returns whether either was in progress.
    @discardableResult
    func end() -> Bool {
        guard let ended = activity.end() else { return false }
        switch ended {
        case .publishing(let registration, let listener):
            listener?.cancel()
            if let registration { BonjourEngine.shared.withdraw(registration) }
        case .resolving(let lookup): lookup.end()
        }
        return true
    }

    /// Whether the name, type and domain are equal. Only these identify a service.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NetService else { return false }
        return name == other.name && type == other.type && domain == other.domain
    }

    /// A hash of name, type and domain.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(type)
        hasher.combine(domain)
        return hasher.finalize()
    }

    /// The full name of the service.
    open override var description: String { "\(name).\(type)\(domain)" }

    var endpoint: NWEndpoint { .service(name: name, type: type, domain: domain, interface: nil) }

    /// The endpoint for TCP connections; `nil` if the name or the type is invalid, or if the type is not a TCP type.
    package var streamEndpoint: NWEndpoint? {
        instanceName(name) != nil && !type.lowercased().contains("._udp") ? endpoint : nil
    }

    static func dictionary(_ code: ErrorCode) -> [String: NSNumber] {
        // In Apple's `CFStreamError`, this error domain has the number 10.
        [errorCode: NSNumber(value: code.rawValue), errorDomain: NSNumber(value: 10)]
    }
}
