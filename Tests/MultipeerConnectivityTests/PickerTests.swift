import CausewayPeers
import Testing

@testable import MultipeerConnectivity

@Suite("The picker's keys and list")
struct PickerTests {
    private let peers = (1...4).map { PeerIdentity(id: UInt64($0), fingerprint: [], name: "p\($0)") }

    private func list(_ count: Int = 3) -> PickerList {
        var list = PickerList(title: "Peers")
        for peer in peers.prefix(count) { list.found(peer) }
        return list
    }

    private func text(_ list: PickerList, height: Int = 24) -> [String] { list.lines(height: height).map(\.text) }

    @Test("Keys of both cursor forms, one byte at a time too", arguments: [true, false])
    func keys(isDripFed: Bool) {
        let bytes: [UInt8] = Array("\u{1B}[A\u{1B}OB\u{1B}[1;5A\rd".utf8) + [0x03] + Array("xq".utf8)
        var decoder = KeyDecoder()
        let keys = isDripFed ? bytes.flatMap { decoder.keys(of: [$0]) } : decoder.keys(of: bytes)
        #expect(keys == [.up, .down, .up, .enter, .done, .interrupt, .cancel])
    }

    @Test("A single escape byte is the Escape key once nothing follows")
    func escape() {
        var decoder = KeyDecoder()
        #expect(decoder.keys(of: [0x1B]).isEmpty && decoder.isWaiting)
        #expect(decoder.flush() == .cancel && !decoder.isWaiting && decoder.flush() == nil)
        #expect(decoder.keys(of: [0x1B, 0x1B]) == [.cancel])
    }

    @Test("Enter invites the selected peer, once")
    func invites() {
        var list = list()
        #expect(list.press(.down) == nil)
        #expect(list.press(.enter) == .invite(peers[1]))
        #expect(list.press(.enter) == nil)
        list.changed(peers[1], to: .notConnected)
        #expect(list.press(.enter) == .invite(peers[1]))
        #expect(text(list)[2] == "> p2   invited")
    }

    @Test("Done needs the minimum; no invitation goes beyond the maximum")
    func limits() {
        var list = list()
        list.maximum = 2
        #expect(list.press(.done) == nil)
        #expect(list.press(.enter) == .invite(peers[0]))
        _ = list.press(.down)
        #expect(list.press(.enter) == nil)
        list.changed(peers[0], to: .connecting)
        list.changed(peers[0], to: .connected)
        #expect(list.press(.done) == .finish && list.press(.enter) == nil)
        list.maximum = 3
        #expect(list.press(.enter) == .invite(peers[1]))
        list.minimum = 3
        #expect(list.press(.done) == nil && list.press(.cancel) == .cancel)
    }

    @Test("Lost peers vanish, members stay, the selection stays on its peer")
    func lost() {
        var list = list()
        _ = list.press(.down)
        _ = list.press(.down)
        list.lost(peers[0])
        #expect(text(list).contains("> p3"))
        list.changed(peers[1], to: .connected)
        list.lost(peers[1])
        #expect(text(list).contains("  p2   connected"))
        list.changed(peers[1], to: .notConnected)
        #expect(!text(list).contains { $0.contains("p2") })
        list.changed(peers[3], to: .connected)
        #expect(text(list).contains("  p4   connected"))
    }

    @Test("A long list scrolls, names cannot control the terminal")
    func scrolls() {
        var list = PickerList(title: "Peers")
        for number in 1...40 {
            list.found(PeerIdentity(id: UInt64(number), fingerprint: [], name: "n\(number)\u{1B}[2J"))
        }
        for _ in 0..<30 { _ = list.press(.down) }
        let lines = text(list, height: 10)
        #expect(lines.count <= 10 && lines.contains { $0.hasPrefix("> n31") } && !lines.joined().contains("\u{1B}"))
        #expect(text(PickerList(title: "Peers"))[1].contains("Searching"))
    }
}
