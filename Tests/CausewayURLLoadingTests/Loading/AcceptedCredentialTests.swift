import CausewayHTTPProtocols
import CausewayProtocols
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Accepted credentials")
struct AcceptedCredentialTests {
    private let user = URLCredential(user: "u", password: "p", persistence: .none)
    private let load = FakeLoad(challenges: [])

    private func space(_ method: String) -> URLProtectionSpace {
        URLProtectionSpace(
            host: "example.com", port: 443, protocol: NSURLProtectionSpaceHTTPS, realm: nil,
            authenticationMethod: method)
    }

    @Test("A credential for a connection scheme is kept with the owner of the connection, and taken once")
    func connectionScheme() {
        let authority = ProtectionSpace.Authority.origin(load.origin)
        let known = ProtectionSpace(authority: authority, realm: "", scheme: "ntlm")
        let owner = BoundConnections.Owner(space: known, credential: user)
        load.withAccess { access in
            access.credentials.sent(in: known)
            access.accepted = (user, space(NSURLAuthenticationMethodNTLM))
            access.bound = LoadAccess.Bound(owner: owner, handshake: BoundHandshake())
        }
        for _ in 0..<2 { AcceptedCredential(load: load).keep(FieldSection()) }
        #expect(load.network.negotiatedCredential(of: known) === user)
        #expect(load.network.boundOwner(of: authority) == owner)
        #expect(load.withAccess { $0.accepted == nil })
    }

    @Test("A credential for single requests is not kept for connections; without a credential nothing happens")
    func otherSchemes() {
        let known = ProtectionSpace(authority: .origin(load.origin), realm: "r", scheme: "basic")
        AcceptedCredential(load: load).keep(FieldSection())
        load.withAccess { access in
            access.credentials.sent(in: known)
            access.accepted = (user, space(NSURLAuthenticationMethodHTTPBasic))
        }
        AcceptedCredential(load: load).keep(FieldSection())
        #expect(load.network.negotiatedCredential(of: known) == nil)
        #expect(load.withAccess { $0.accepted == nil })
    }

    @Test("A credential that a proxy accepted is kept also if the server has none")
    func proxy() {
        let proxy = URLProtectionSpace(
            proxyHost: "proxy.test", port: 3128, type: NSURLProtectionSpaceHTTPProxy, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodNegotiate)
        load.withProxyAccess { $0.accepted = (user, proxy) }
        AcceptedCredential(load: load).keep(FieldSection())
        let known = ProtectionSpace(
            authority: .proxy(host: "proxy.test", port: 3128), realm: "", scheme: "negotiate")
        #expect(load.network.negotiatedCredential(of: known) === user)
        #expect(load.withProxyAccess { $0.accepted == nil })
    }
}
