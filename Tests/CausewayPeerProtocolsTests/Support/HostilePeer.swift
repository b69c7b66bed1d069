import CausewayPeerProtocols
import CausewayTestKit

/// A hostile test peer that builds its frames itself.
struct HostilePeer {
    let publicKey: [UInt8]
    let key: PeerKey
    let exporter: [UInt8]
    var address: [UInt8] = [10, 1, 1, 1]

    init(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        publicKey = random.bytes(91)
        key = PeerKey(id: random.next(), publicKey: publicKey)
        exporter = random.bytes(32)
    }

    var facts: LinkFacts { LinkFacts(exporter: exporter, fingerprint: key.digestBytes, address: address) }

    func hello(handle: SessionHandle? = SessionHandle([UInt8](repeating: 5, count: 16)), isDialler: Bool = true)
        -> [UInt8]
    {
        var hello = Hello(peer: PeerInfo(key: key, name: "x", publicKey: publicKey), handle: handle ?? .none)
        hello.proof = Hello.proof(
            exporter: exporter, isDialler: isDialler, handle: hello.handle, publicKey: publicKey)
        return bytes(hello.frame)
    }

    func bytes(_ frame: PeerFrame) -> [UInt8] {
        var bytes: [UInt8] = []
        frame.serialize(into: &bytes)
        return bytes
    }
}
