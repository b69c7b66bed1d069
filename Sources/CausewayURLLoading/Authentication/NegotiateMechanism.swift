internal import CCausewayLibraries
internal import Causeway
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// A source of security contexts for Negotiate authentication (RFC 4559).
protocol NegotiateMechanism: Sendable {
    /// The reason why security contexts cannot be created, and what to install; `nil` if they can be created. The first
    /// access can load a library.
    var problem: String? { get }

    /// Creates a client's security context; `nil` if that fails.
    ///
    /// - Parameters:
    ///   - service: The service, such as `HTTP@www.example.com`.
    ///   - user: The client's name; `nil` for the system's default name.
    ///   - password: The password; `nil` if the system has the user's credentials, such as a Kerberos ticket.
    func makeContext(service: String, user: String?, password: String?) -> (any NegotiateContext)?
}

extension NegotiateMechanism {
    /// Whether security contexts can be created.
    var isAvailable: Bool { problem == nil }
}

/// A client's security context.
protocol NegotiateContext: AnyObject, Sendable {
    /// Returns the next token for the server; `nil` if the negotiation failed or has nothing more to send. The call can
    /// wait for network servers.
    ///
    /// - Parameter token: The server's token; `nil` in the first step.
    func step(_ token: Data?) -> Data?
}

/// GSSAPI security contexts from MIT Kerberos, whose library is loaded at run time.
struct GSSMechanism: NegotiateMechanism {
    /// The reason why the library cannot be used; `nil` if it is loaded.
    var problem: String? { cw_gss_load().map { String(cString: $0) } }

    /// Tries to load the GSSAPI library from a file with the given name, but does not use it afterwards. For tests.
    /// Returns the error message, or `nil` on success.
    static func probe(_ name: String) -> String? {
        var message = [CChar](repeating: 0, count: 512)
        if cw_gss_probe(name, &message, message.count) { return nil }
        return String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func makeContext(service: String, user: String?, password: String?) -> (any NegotiateContext)? {
        GSSContext(service: service, user: user, password: password)
    }
}

/// A GSSAPI security context. Credentials are never delegated to the server.
final class GSSContext: NegotiateContext {
    /// The context object of the GSSAPI library. It is used only while the lock that contains it is held.
    private let handle: LockedValue<Unchecked<OpaquePointer>>

    init?(service: String, user: String?, password: String?) {
        guard let made = cw_gss_context_new(service, user, password) else { return nil }
        handle = LockedValue(Unchecked(made))
    }

    deinit { handle.withLock { cw_gss_context_free($0.value) } }

    func step(_ token: Data?) -> Data? { stepResult(token).token }

    /// Passes a received token to the mechanism. Returns the next token, or the reason of a failure.
    func stepResult(_ token: Data?) -> (token: Data?, problem: String?) {
        let input = token.map { [UInt8]($0) } ?? []
        return handle.withLock { handle in
            var output: UnsafePointer<UInt8>?
            var count = 0
            let status = cw_gss_context_step(handle.value, input, input.count, &output, &count)
            guard status != CW_GSS_FAILED else { return (nil, String(cString: cw_gss_problem(handle.value))) }
            return (output.flatMap { count > 0 ? Data(bytes: $0, count: count) : nil }, nil)
        }
    }
}

/// Performs negotiation steps on dedicated threads, because these steps block.
enum NegotiateQueue {
    private static let queue = DispatchQueue(label: "causeway.negotiate", attributes: .concurrent)

    /// Performs one negotiation step. Calls the closure with the next token; `nil` if there is none.
    static func step(
        _ context: any NegotiateContext, _ token: Data?, then: @escaping @Sendable (Data?) -> Void
    ) {
        queue.async { then(context.step(token)) }
    }
}
