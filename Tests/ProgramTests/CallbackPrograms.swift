// Programs in the form they have for Apple's framework, with its one import. This file is compiled twice, in Swift 6 and in Swift 5 mode,
// and must compile without a warning. The test runs the parts that need no network.
import Network
import Testing

/// A mail client: TLS, and a switch over the states.
private func makeMailConnection(_ report: @escaping @Sendable (NWError) -> Void) -> NWConnection {
    let connection = NWConnection(host: "mail.example.com", port: .imaps, using: .tls)
    connection.stateUpdateHandler = { newState in
        switch newState {
        case .setup, .preparing: break
        case .waiting(let error): report(error)
        case .ready: break
        case .failed(let error): report(error)
        case .cancelled: break
        @unknown default: break
        }
    }
    connection.viabilityUpdateHandler = { isViable in
        if !isViable { print("no connectivity") }
    }
    connection.betterPathUpdateHandler = { [weak connection] isBetterPathAvailable in
        guard isBetterPathAvailable, let connection else { return }
        NWConnection(to: connection.endpoint, using: connection.parameters).start(queue: .main)
    }
    return connection
}

/// A camera that sends frames over UDP, as fast as the transport accepts them.
private final class FrameSender: @unchecked Sendable {
    let connection: NWConnection

    init(name: String) {
        let endpoint = NWEndpoint.service(name: name, type: "_camera._udp", domain: "local", interface: nil)
        connection = NWConnection(to: endpoint, using: .udp)
    }

    func sendFrame(_ frame: Data) {
        connection.send(
            content: frame,
            completion: .contentProcessed { error in
                if let error { print(error) } else { self.sendFrame(frame) }
            })
    }

    func sendFrames(_ frames: [Data]) {
        let ipMetadata = NWProtocolIP.Metadata()
        ipMetadata.ecn = .ect0
        ipMetadata.serviceClass = .background
        let context = NWConnection.ContentContext(identifier: "frame", metadata: [ipMetadata])
        connection.batch {
            for frame in frames {
                connection.send(content: frame, contentContext: context, completion: .idempotent)
            }
        }
    }
}

/// Reads a header of fixed size, then a body of the size that the header states.
private func readHeader(_ connection: NWConnection) {
    let headerLength = 10
    connection.receive(minimumIncompleteLength: headerLength, maximumLength: headerLength) {
        content, contentContext, isComplete, error in
        guard let content, error == nil else { return connection.cancel() }
        let bodyLength = content.reduce(0) { $0 + Int($1) }
        connection.receive(minimumIncompleteLength: bodyLength, maximumLength: bodyLength) { _, _, isComplete, _ in
            if isComplete { connection.forceCancel() }
        }
    }
    connection.receiveMessage { completeContent, _, _, _ in print(completeContent?.count ?? 0) }
}

/// The viewer side of the camera program: a listener with a Bonjour service.
private func makeListener(_ take: @escaping @Sendable (NWConnection) -> Void) throws -> NWListener {
    let listener = try NWListener(using: .udp)
    listener.service = NWListener.Service(type: "_camera._udp")
    listener.serviceRegistrationUpdateHandler = { serviceChange in
        switch serviceChange {
        case .add(let endpoint):
            switch endpoint {
            case .service(let name, _, _, _): print("listening as \(name)")
            default: break
            }
        default: break
        }
    }
    listener.newConnectionHandler = { newConnection in
        newConnection.start(queue: .main)
        take(newConnection)
    }
    listener.stateUpdateHandler = { [weak listener] state in
        if case .failed = state { listener?.cancel() }
        if state == .ready, let port = listener?.port { print(port) }
    }
    return listener
}

private func makeParameters() -> NWParameters {
    let tcpOptions = NWProtocolTCP.Options()
    tcpOptions.enableFastOpen = true
    tcpOptions.noDelay = true
    let parameters = NWParameters(tls: NWProtocolTLS.Options(), tcp: tcpOptions)
    parameters.prohibitedInterfaceTypes = [.cellular]
    parameters.preferNoProxies = true
    parameters.serviceClass = .background
    parameters.multipathServiceType = .interactive
    parameters.allowFastOpen = true
    parameters.expiredDNSBehavior = .allow
    if let ipOptions = parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options {
        ipOptions.version = .v6
    }
    return parameters
}

private func watchPaths(_ report: @escaping @Sendable (NWPath) -> Void) -> NWPathMonitor {
    let monitor = NWPathMonitor(requiredInterfaceType: .wifi)
    monitor.pathUpdateHandler = { path in
        if path.status == .satisfied, !path.isExpensive, path.usesInterfaceType(.wifi) { report(path) }
    }
    return monitor
}

/// Returns TLS options with a pre-shared key, as in peer-to-peer games, and with a custom choice of certificate.
private func makeTLSOptions(passcode: String, queue: DispatchQueue) -> NWProtocolTLS.Options {
    let options = NWProtocolTLS.Options()
    let key = Data(passcode.utf8).withUnsafeBytes { DispatchData(bytes: $0) }
    let identity = Data("game".utf8).withUnsafeBytes { DispatchData(bytes: $0) }
    sec_protocol_options_add_pre_shared_key(
        options.securityProtocolOptions, key as __DispatchData, identity as __DispatchData)
    sec_protocol_options_append_tls_ciphersuite(
        options.securityProtocolOptions, tls_ciphersuite_t(rawValue: UInt16(TLS_PSK_WITH_AES_128_GCM_SHA256))!)
    sec_protocol_options_set_min_tls_protocol_version(options.securityProtocolOptions, .TLSv12)
    sec_protocol_options_add_tls_application_protocol(options.securityProtocolOptions, "game")
    sec_protocol_options_set_verify_block(
        options.securityProtocolOptions,
        { metadata, secTrust, complete in
            let trust = sec_trust_copy_ref(secTrust).takeRetainedValue()
            var error: CFError?
            let isTrusted = SecTrustEvaluateWithError(trust, &error)
            if let error { print(error) }
            complete(isTrusted)
        }, queue)
    return options
}

private func importIdentity(_ data: Data) -> sec_identity_t? {
    var items: CFArray?
    let options = [kSecImportExportPassphrase as String: "secret"] as CFDictionary
    guard SecPKCS12Import(data as CFData, options, &items) == errSecSuccess else { return nil }
    let first = (items as? [[String: Any]])?.first
    guard let identity = first?[kSecImportItemIdentity as String] as? SecIdentity else { return nil }
    return sec_identity_create(identity)
}

private func makeBrowser() -> NWBrowser {
    let parameters = NWParameters()
    parameters.includePeerToPeer = true
    let browser = NWBrowser(for: .bonjour(type: "_game._tcp", domain: nil), using: parameters)
    browser.browseResultsChangedHandler = { results, changes in
        for result in results {
            if case .service(let name, _, _, _) = result.endpoint { print(name) }
            if case .bonjour(let record) = result.metadata { print(record.dictionary) }
        }
        for change in changes {
            switch change {
            case .added(let result), .removed(let result): print(result)
            case .changed(old: _, new: let result, flags: let flags): print(result, flags.contains(.metadataChanged))
            case .identical: break
            @unknown default: break
            }
        }
    }
    browser.stateUpdateHandler = { state in
        if case .failed(let error) = state { print(error) }
    }
    return browser
}

private func makeWebSocket(_ url: URL) -> NWConnection {
    let parameters = NWParameters.tcp
    let options = NWProtocolWebSocket.Options()
    options.autoReplyPing = true
    options.setClientRequestHandler(.main) { subprotocols, _ in
        NWProtocolWebSocket.Response(status: .accept, subprotocol: subprotocols.first)
    }
    parameters.defaultProtocolStack.applicationProtocols.insert(options, at: 0)
    let connection = NWConnection(to: .url(url), using: parameters)
    let metadata = NWProtocolWebSocket.Metadata(opcode: .text)
    metadata.setPongHandler(.main) { error in print(error as Any) }
    let context = NWConnection.ContentContext(identifier: "text", metadata: [metadata])
    connection.send(content: Data("hi".utf8), contentContext: context, completion: .contentProcessed { _ in })
    connection.receiveMessage { _, context, _, _ in
        let received = context?.protocolMetadata(definition: NWProtocolWebSocket.definition)
        if let metadata = received as? NWProtocolWebSocket.Metadata, metadata.opcode == .close {
            print(metadata.closeCode)
        }
    }
    return connection
}

/// A game's message format. Each message begins with a type and a length.
private final class GameProtocol: NWProtocolFramerImplementation {
    static let definition = NWProtocolFramer.Definition(implementation: GameProtocol.self)
    static var label: String { "game" }

    required init(framer: NWProtocolFramer.Instance) {}
    func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult { .ready }
    func wakeup(framer: NWProtocolFramer.Instance) {}
    func stop(framer: NWProtocolFramer.Instance) -> Bool { true }
    func cleanup(framer: NWProtocolFramer.Instance) {}

    func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool
    ) {
        framer.writeOutput(data: Data([UInt8(message["type"] as? Int ?? 0), UInt8(messageLength)]))
        do { try framer.writeOutputNoCopy(length: messageLength) } catch { print(error) }
    }

    func handleInput(framer: NWProtocolFramer.Instance) -> Int {
        while true {
            var header: (type: UInt8, length: UInt8)?
            let parsed = framer.parseInput(minimumIncompleteLength: 2, maximumLength: 2) { buffer, _ in
                guard let buffer, buffer.count == 2 else { return 0 }
                header = (buffer[0], buffer[1])
                return 2
            }
            guard parsed, let header else { return 2 }
            let message = NWProtocolFramer.Message(definition: GameProtocol.definition)
            message["type"] = Int(header.type)
            guard framer.deliverInputNoCopy(length: Int(header.length), message: message, isComplete: true) else {
                return 0
            }
        }
    }
}

/// Returns the error for a proxy's HTTP status. Some of these errors have no number on Linux.
private func proxyFailure(status: Int) -> NWError? {
    switch status {
    case 200: nil
    case 401: .posix(.EAUTH)
    case 407: .posix(.ENEEDAUTH)
    default: .posix(.EPROTO)
    }
}

private func asksForPassword(_ error: NWError) -> Bool {
    guard case .posix(let code) = error else { return false }
    switch code {
    case .EAUTH, .ENEEDAUTH: return true
    case .EBADRPC, .ENOATTR, .EQFULL: return false
    default: return false
    }
}

private func makeGroup() throws -> NWConnectionGroup {
    let multicast = try NWMulticastGroup(for: [.hostPort(host: "224.0.0.251", port: 5353)])
    let group = NWConnectionGroup(with: multicast, using: .udp)
    group.setReceiveHandler(maximumMessageSize: 16_384, rejectOversizedMessages: true) { message, content, _ in
        print(message.remoteEndpoint as Any, content?.count ?? 0)
        message.reply(content: content)
    }
    group.stateUpdateHandler = { state in print(state) }
    group.send(content: Data([1])) { error in print(error as Any) }
    return group
}

@Suite("Programs written for Apple's framework")
struct CallbackProgramTests {
    @Test("They compile and create their objects")
    func objects() throws {
        let queue = DispatchQueue(label: "program")
        #expect(makeMailConnection { _ in }.state == .setup)
        #expect(FrameSender(name: "Camera").connection.queue == nil)
        #expect(try makeListener { _ in }.service?.type == "_camera._udp")
        #expect(makeParameters().serviceClass == .background)
        #expect(watchPaths { _ in }.currentPath.status == .unsatisfied)
        let tls = NWParameters(tls: makeTLSOptions(passcode: "1234", queue: queue))
        #expect(tls.defaultProtocolStack.applicationProtocols.count == 1)
        #expect(importIdentity(Data()) == nil)
        #expect(makeBrowser().browseResults.isEmpty)
        let url = try #require(URL(string: "ws://example.com/chat"))
        #expect(makeWebSocket(url).endpoint == .url(url))
        #expect(GameProtocol.definition.name == "game")
        #expect(proxyFailure(status: 407).map(asksForPassword) == true)
        #expect(proxyFailure(status: 500).map(asksForPassword) == false)
        #expect(try makeGroup().descriptor.members.count == 1)
        readHeader(NWConnection(to: .unix(path: "/nowhere"), using: .tcp))
    }
}
