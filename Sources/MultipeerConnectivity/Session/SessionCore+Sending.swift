internal import Causeway
internal import CausewayPeers
internal import Foundation

extension SessionCore {
    /// - Throws: ``MCError``.
    func send(_ data: Data, to peers: [PeerIdentity], _ mode: MCSessionSendDataMode) throws(MCError) {
        guard !peers.isEmpty else { throw MCError(.invalidParameter, "there is no peer to send to") }
        // A peer listed twice gets one message.
        var seen: Set<UInt64> = []
        var found: [PeerIdentity] = []
        var engine: (any SessionEngine)?
        for peer in peers where seen.insert(peer.id).inserted {
            let connection = try connection(to: peer)
            engine = connection.engine
            found.append(connection.peer)
        }
        do throws(PeerFailure) {
            try engine?.send(data, to: found, mode == .reliable ? .reliable : .unreliable)
        } catch {
            throw MCError(error)
        }
    }

    /// Starts to send a resource. The completion is called exactly once, on the session's queue. This is so even if the
    /// method returns `nil`.
    func sendResource(
        at url: URL, name: String, to peer: PeerIdentity, _ completion: @escaping @Sendable ((any Error)?) -> Void
    ) -> Progress? {
        do throws(MCError) {
            guard !name.isEmpty else { throw MCError(.invalidParameter, "the resource has no name") }
            let connection = try connection(to: peer)
            switch url.scheme?.lowercased() {
            case "file":
                return connection.engine.sendFile(at: url, name: name, to: connection.peer) {
                    completion($0.map { MCError($0) })
                }
            case "http", "https":
                let resource = FetchedResource(url: url, name: name, peer: connection.peer, engine: connection.engine)
                return resource.start { [queue] error in queue.async { completion(error) } }
            default:
                throw MCError(.unsupported, "resources need a URL with the scheme file, http or https: \(url)")
            }
        } catch {
            queue.async { completion(error) }
            return nil
        }
    }

    /// - Throws: ``MCError``.
    func openStream(_ name: String, to peer: PeerIdentity) throws(MCError) -> OutputStream {
        let connection = try connection(to: peer)
        do throws(PeerFailure) {
            return PeerStreams.output(try connection.engine.openStream(name, to: connection.peer))
        } catch {
            throw MCError(error)
        }
    }
}
