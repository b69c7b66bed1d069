internal import Causeway
internal import CausewayProtocols
internal import CausewaySystem
internal import Foundation

/// NTLM security contexts (MS-NLMP), which need functions from OpenSSL.
struct NTLMMechanism: NegotiateMechanism {
    var functions = NTLMFunctions.library
    /// Returns why the OpenSSL functions are missing; `nil` if they are available.
    var check: @Sendable () -> String? = { NTLMFunctions.libraryProblem }

    var problem: String? { check() }

    /// - Parameter user: The user name, optionally with a domain. It is required, because NTLM has no default user.
    func makeContext(service: String, user: String?, password: String?) -> (any NegotiateContext)? {
        guard let user else { return nil }
        let name = service.replacing("@", with: "/", maxReplacements: 1)
        return NTLMContext(NTLMClient(NTLMUser(user), password: password ?? "", service: name, functions))
    }
}

/// The NTLM handshake on one connection.
final class NTLMContext: NegotiateContext {
    private let client: LockedValue<NTLMClient>

    init(_ client: NTLMClient) { self.client = LockedValue(client) }

    func step(_ token: Data?) -> Data? {
        let choice = NTLMResponse.Choice(
            challenge: (0..<8).map { _ in UInt8.random(in: .min ... .max) }, time: Self.time(Date()))
        return client.withLock { client in client.next(token.map { [UInt8]($0) }, choice) }.map { Data($0) }
    }

    /// Returns a time in units of 100 ns since 1601, as NTLM encodes it.
    static func time(_ date: Date) -> UInt64 {
        UInt64(max(0, (date.timeIntervalSince1970 + 11_644_473_600) * 10_000_000))
    }
}
