internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

/// Stores credentials for later requests, after a response has shown that the server or a proxy accepted them.
struct AcceptedCredential: Sendable {
    let load: any ChallengedLoad

    /// Stores the accepted credentials if their persistence setting asks for it.
    ///
    /// - Parameter fields: The response's header fields.
    func keep(_ fields: FieldSection) {
        typealias Accepted = (URLCredential, URLProtectionSpace)
        let (space, owner, accepted, proxy) = load.withAccess {
            access -> (ProtectionSpace?, BoundConnections.Owner?, Accepted?, Accepted?) in
            let proxy = access.takeAcceptedByProxy()
            guard let space = access.credentials.space else { return (nil, nil, nil, proxy) }
            return (space, access.bound?.owner, access.accepted.take(), proxy)
        }
        let network = load.network
        if let space, let information = fields.firstValue(of: "Authentication-Info") {
            _ = network.withAuthorization { $0.received(information: information, in: space) }
        }
        if let proxy { network.proxyAccepted(proxy.0, for: proxy.1, load.askingTask) }
        guard let accepted, let space else { return }
        if let task = load.askingTask {
            network.settings.stores.credentials?.keep(accepted.0, for: accepted.1, task)
        }
        if ConnectionSchemes(scheme: space.scheme) != nil {
            network.noteNegotiated(accepted.0, of: space, owner: owner)
        }
    }
}
