import CausewayProtocols
import CausewayRuntime
import CausewayWire
import Dispatch
import Foundation
import Testing

@testable import Causeway

@Suite("WebSocket in a stack")
struct WebSocketLayerTests {
    typealias Options = NWProtocolWebSocket.Options
    typealias Context = NWConnection.ContentContext

    private static let resources: [(endpoint: String, isSecure: Bool, host: String, target: String)] = [
        ("ws://example.com/chat?x=1#part", false, "example.com", "/chat?x=1"),
        ("ws://example.com", false, "example.com", "/"),
        ("ws://example.com?x=1", false, "example.com", "/?x=1"),
        ("wss://example.com:8443/a%20b", false, "example.com:8443", "/a%20b"),
        ("wss://example.com/", false, "example.com", "/"),
        ("wss://example.com:443/", false, "example.com", "/"),
        ("ws://example.com:443/", false, "example.com:443", "/"),
        ("ws://example.com:443/", true, "example.com", "/"),
        ("ws://[2001:db8::1]:81/x", false, "[2001:db8::1]:81", "/x"),
    ]

    @Test("A request has the host and path of the URL", arguments: resources)
    func urls(_ row: (endpoint: String, isSecure: Bool, host: String, target: String)) throws {
        let endpoint = NWEndpoint.url(try #require(URL(string: row.endpoint)))
        let request = try Options().values.upgradeRequest(to: endpoint, isSecure: row.isSecure)
        #expect(request.authority == row.host && request.target == row.target)
    }

    @Test("Without a URL the path is the root")
    func hosts() throws {
        let values = Options().values
        let host = try values.upgradeRequest(to: .hostPort(host: "example.com", port: 80), isSecure: false)
        #expect(host.authority == "example.com" && host.target == "/")
        let secure = try values.upgradeRequest(to: .hostPort(host: "::1", port: 80), isSecure: true)
        #expect(secure.authority == "[::1]:80")
        #expect(try values.upgradeRequest(to: .unix(path: "/tmp/x"), isSecure: false).authority == "localhost")
        let service = NWEndpoint.service(name: "My Chat", type: "_chat._tcp", domain: "local.", interface: nil)
        #expect(try values.upgradeRequest(to: service, isSecure: false).authority == "My-Chat.local")
    }

    @Test("An invalid request is refused before connecting, but not where no request is sent")
    func unwritable() {
        let options = Options()
        options.setAdditionalHeaders([(name: "X-A", value: "1\r\nX-B: 2")])
        let endpoint = NWEndpoint.hostPort(host: "example.com", port: 80)
        #expect(throws: NWError.posix(.EINVAL)) {
            try makeWebSocketLayer(options, isServer: false, endpoint: endpoint)
        }
        #expect(throws: Never.self) { try makeWebSocketLayer(options, isServer: true, endpoint: endpoint) }
        options.skipHandshake = true
        #expect(throws: Never.self) { try makeWebSocketLayer(options, isServer: false, endpoint: endpoint) }
    }

    /// A client and a server, with the bytes that they have exchanged.
    private struct Pair {
        let client: StackDouble
        let server: StackDouble
        let clientLayer: StackLayer
        let serverLayer: StackLayer

        init(client: Options = Options(), server: Options = Options()) throws {
            let endpoint = NWEndpoint.hostPort(host: "example.com", port: 80)
            clientLayer = try makeWebSocketLayer(client, isServer: false, endpoint: endpoint)
            serverLayer = try makeWebSocketLayer(server, isServer: true, endpoint: endpoint)
            self.client = StackDouble([clientLayer])
            self.server = StackDouble([serverLayer])
        }

        func exchange() {
            while true {
                let (up, down) = (client.output(), server.output())
                guard !up.isEmpty || !down.isEmpty else { return }
                server.receive(up)
                client.receive(down)
            }
        }
    }

    private func metadata(_ context: Context?) -> NWProtocolWebSocket.Metadata? {
        context?.protocolMetadata(definition: NWProtocolWebSocket.definition) as? NWProtocolWebSocket.Metadata
    }

    private func context(
        _ opcode: NWProtocolWebSocket.Opcode, _ change: (NWProtocolWebSocket.Metadata) -> Void = { _ in }
    ) -> Context {
        let metadata = NWProtocolWebSocket.Metadata(opcode: opcode)
        change(metadata)
        return Context(identifier: "message", metadata: [metadata])
    }

    @Test("A server accepts by default, and messages keep their kind")
    func messages() throws {
        let pair = try Pair()
        #expect(pair.clientLayer.delegate is WebSocketDelegate)
        pair.exchange()
        #expect(pair.client.events == ["ready"] && pair.server.events == ["ready"])
        #expect(pair.client.send("grüße", context(.text)))
        #expect(pair.client.send("plain"))
        #expect(pair.server.send("", context(.ping)))
        pair.exchange()
        let text = pair.server.take()
        #expect(text?.text == "grüße" && text?.endsMessage == true && metadata(text?.context)?.opcode == .text)
        #expect(metadata(pair.server.take()?.context)?.opcode == .binary)
        #expect(metadata(pair.client.take()?.context)?.opcode == .ping)
    }

    @Test("A program's handler decides on its queue, and both ends have the negotiated parameters")
    func handler() async throws {
        let (clientOptions, serverOptions) = (Options(), Options())
        clientOptions.setSubprotocols(["a", "b"])
        clientOptions.setAdditionalHeaders([(name: "X-Who", value: "me")])
        let queue = DispatchQueue(label: "handler")
        serverOptions.setClientRequestHandler(queue) { subprotocols, headers in
            let isMe = headers.contains { $0.name == "X-Who" && $0.value == "me" }
            return NWProtocolWebSocket.Response(
                status: isMe ? .accept : .reject, subprotocol: subprotocols.last,
                additionalHeaders: [(name: "X-Room", value: "7")])
        }
        let pair = try Pair(client: clientOptions, server: serverOptions)
        pair.exchange()
        await withCheckedContinuation { done in queue.async { done.resume() } }
        pair.server.run()
        pair.exchange()
        #expect(pair.client.events == ["ready"])
        let client = (pair.clientLayer.delegate as? WebSocketDelegate)?.connectionMetadata
        let agreed = try #require(client as? NWProtocolWebSocket.Metadata)
        #expect(agreed.selectedSubprotocol == "b")
        #expect(agreed.additionalServerHeaders?.map(\.0) == ["X-Room"])
        let server = (pair.serverLayer.delegate as? WebSocketDelegate)?.connectionMetadata
        #expect((server as? NWProtocolWebSocket.Metadata)?.selectedSubprotocol == "b")
    }

    @Test("A rejected client fails, and so does the server's connection")
    func rejection() async throws {
        let options = Options()
        let queue = DispatchQueue(label: "handler")
        options.setClientRequestHandler(queue) { _, _ in .init(status: .reject, subprotocol: nil) }
        let pair = try Pair(server: options)
        pair.exchange()
        await withCheckedContinuation { done in queue.async { done.resume() } }
        pair.server.run()
        pair.exchange()
        #expect(pair.client.events.count == 1 && pair.client.events.first?.contains("failed") == true)
        #expect(pair.server.events.first?.contains("failed") == true)
    }

    @Test("A close has its code and its reason, and the end follows")
    func closing() throws {
        let pair = try Pair()
        pair.exchange()
        #expect(pair.client.send("enough", context(.close) { $0.closeCode = .privateCode(4001) }))
        pair.exchange()
        let message = try #require(pair.server.take())
        #expect(message.text == "enough" && metadata(message.context)?.opcode == .close)
        #expect(metadata(message.context)?.closeCode == .privateCode(4001))
        let end = try #require(pair.server.take())
        #expect(end.context === Context.inboundStreamEnd)
        #expect(!pair.client.send("late"))
    }
}

extension WebSocketLayerTests {
    /// Waits for the single call of a pong handler, and returns its error.
    private func pong(_ body: (Context) -> Void) async -> NWError? {
        await withCheckedContinuation { done in
            body(
                context(.ping) { metadata in
                    metadata.setPongHandler(DispatchQueue(label: "pong")) { done.resume(returning: $0) }
                })
        }
    }

    @Test("A pong is reported once to the sender of the ping")
    func pongs() async throws {
        let options = Options()
        options.autoReplyPing = true
        let pair = try Pair(server: options)
        pair.exchange()
        let error = await pong { context in
            pair.client.send("there?", context)
            pair.exchange()
        }
        #expect(error == nil)
        // A ping and its pong are not messages. So neither side must have received a message.
        #expect(pair.server.take() == nil && pair.client.take() == nil)
    }

    @Test("The sender of a ping is notified of the end of the connection, and of a ping that was never sent")
    func lostPongs() async throws {
        let pair = try Pair()
        pair.exchange()
        let lost = await pong { context in
            pair.client.send("there?", context)
            pair.exchange()
            pair.client.abort()
        }
        #expect(lost == .posix(.ECANCELED))
        let unsent = await pong { context in
            let metadata = stageMetadata(of: context)
            #expect(!pair.client.send("there?", context))
            abandon(metadata, .posix(.ENOTCONN))
        }
        #expect(unsent == .posix(.ENOTCONN))
    }
}
