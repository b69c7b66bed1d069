import CausewayProtocols
import CausewayRuntime
import Foundation
import Testing

@testable import Causeway

/// A framer for lines that end with a semicolon. It records its calls in a log, which it finds in the options.
private final class Lines: NWProtocolFramerImplementation {
    static let label = "lines"

    private let log: Log

    init(framer: NWProtocolFramer.Instance) {
        log = (framer.options["log"] as? Log) ?? Log()
        log.add("init")
    }

    func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult {
        log.add("start")
        guard framer.options["greets"] as? Bool == true else { return .ready }
        framer.writeOutput(data: Data("hello;".utf8))
        return .willMarkReady
    }

    func handleInput(framer: NWProtocolFramer.Instance) -> Int {
        if let watch = framer.options["watch"] as? () -> Void {
            watch()
            return 0
        }
        while true {
            var length: Int?
            let isParsed = framer.parseInput(minimumIncompleteLength: 1, maximumLength: .max) { buffer, _ in
                length = buffer?.firstIndex(of: UInt8(ascii: ";"))
                return 0
            }
            guard isParsed, let length else { return 0 }
            if framer.options["greets"] as? Bool == true, !log.hasGreeting {
                log.hasGreeting = true
                if let above = framer.options["above"] as? NWProtocolOptions {
                    do { try framer.prependApplicationProtocol(options: above) } catch { log.add("\(error)") }
                }
                skip(length + 1, framer)
                framer.markReady()
                return 0
            }
            let message = NWProtocolFramer.Message(instance: framer)
            message["length"] = length
            _ = framer.deliverInputNoCopy(length: length, message: message, isComplete: true)
            skip(1, framer)
        }
    }

    private func skip(_ count: Int, _ framer: NWProtocolFramer.Instance) {
        _ = framer.parseInput(minimumIncompleteLength: 1, maximumLength: 1) { _, _ in count }
    }

    func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool
    ) {
        if let mark = message["mark"] as? String { framer.writeOutput(data: Data(mark.utf8)) }
        #expect(throws: NWError.posix(.EINVAL)) { try framer.writeOutputNoCopy(length: messageLength + 1) }
        #expect(throws: Never.self) { try framer.writeOutputNoCopy(length: messageLength) }
        framer.writeOutput(data: Data(";".utf8))
        framer.async { [log] in log.add("async") }
    }

    func wakeup(framer: NWProtocolFramer.Instance) { log.add("wakeup") }

    func stop(framer: NWProtocolFramer.Instance) -> Bool {
        log.add("stop")
        framer.writeOutput(data: Data("bye;".utf8))
        return true
    }

    func cleanup(framer: NWProtocolFramer.Instance) { log.add("cleanup") }
}

private final class Log {
    private(set) var entries: [String] = []
    var hasGreeting = false
    func add(_ entry: String) { entries.append(entry) }
}

@Suite("Framers in a stack")
struct FramerLayerTests {
    private let definition = NWProtocolFramer.Definition(implementation: Lines.self)
    private let log = Log()

    private func makeLayer(
        greets: Bool = false, above: NWProtocolOptions? = nil, parameters: NWParameters = .tcp
    ) -> StackLayer {
        let options = NWProtocolFramer.Options(definition: definition)
        options["log"] = log
        options["greets"] = greets
        options["above"] = above
        return makeFramerLayer(
            options, local: nil, remote: .hostPort(host: "192.0.2.1", port: 9), parameters: parameters, isServer: false
        ) { _ throws(NWError) in
            throw .posix(.ENOTSUP)
        }
    }

    @Test("A stream becomes messages, with values that the framer set")
    func input() throws {
        let stack = StackDouble([makeLayer()])
        stack.receive("one;tw")
        stack.receive("o;;rest")
        for text in ["one", "two", ""] {
            let message = try #require(stack.take())
            #expect(message.text == text && message.endsMessage && !message.context.isFinal)
            let metadata = message.context.protocolMetadata(definition: definition) as? NWProtocolFramer.Message
            #expect(metadata?["length"] as? Int == text.count)
        }
        #expect(stack.take() == nil)
    }

    @Test("Messages become a stream, each with the program's own values")
    func output() {
        let stack = StackDouble([makeLayer()])
        let message = NWProtocolFramer.Message(definition: definition)
        message["mark"] = "#"
        #expect(stack.send("one"))
        #expect(stack.send("two", NWConnection.ContentContext(identifier: "two", metadata: [message])))
        let foreign = NWProtocolFramer.Message(definition: NWProtocolFramer.Definition(implementation: Lines.self))
        foreign["mark"] = "!"
        #expect(stack.send("three", NWConnection.ContentContext(identifier: "three", metadata: [foreign])))
        #expect(stack.outputText == "one;#two;three;")
        #expect(log.entries == ["init", "start", "async", "async", "async"])
    }

    @Test("A handshake delays the stack until the framer is ready")
    func handshake() {
        let stack = StackDouble([makeLayer(greets: true)])
        #expect(stack.outputText == "hello;")
        #expect(!stack.send("early"))
        #expect(stack.events.isEmpty)
        stack.receive("welcome;first;")
        #expect(stack.events == ["ready"])
        #expect(stack.take()?.text == "first")
    }

    @Test("A framer that becomes ready gives the peer more time, the bytes that it reads do not")
    func patience() {
        let stack = StackDouble([makeLayer(greets: true)])
        let start = stack.answerCount
        stack.receive("wel")
        stack.receive("co")
        #expect(stack.answerCount == start)
        stack.receive("me;first;")
        #expect(stack.events == ["ready"] && stack.answerCount == start + 1)
    }

    @Test("A framer inserts a framer above itself, and an invalid one is refused")
    func prepending() {
        let above = NWProtocolFramer.Options(definition: definition)
        let stack = StackDouble([makeLayer(greets: true, above: above)])
        stack.receive("welcome;inner;;")
        #expect(stack.stageCount == 2 && stack.events == ["ready"])
        log.hasGreeting = false
        let web = StackDouble([makeLayer(greets: true, above: NWProtocolWebSocket.Options())])
        web.receive("welcome;")
        #expect(web.stageCount == 2 && web.outputText.contains("GET / HTTP/1.1\r\nHost: 192.0.2.1:9\r\n"))
        log.hasGreeting = false
        let refused = StackDouble([makeLayer(greets: true, above: NWProtocolTLS.Options())])
        refused.receive("welcome;")
        #expect(refused.stageCount == 1 && refused.events == ["ready"])
        #expect(log.entries.contains("\(NWError.posix(.ENOTSUP))"))
    }

    @Test("Closing stops the framer, sends its last output, and releases it once")
    func closing() throws {
        let layer = makeLayer()
        let delegate = try #require(layer.delegate as? FramerDelegate)
        let stack = StackDouble([layer])
        stack.close()
        #expect(stack.outputText == "bye;")
        #expect(stack.events == ["ready", "closed"])
        #expect(log.entries == ["init", "start", "stop", "cleanup"])
        #expect(delegate.place == nil)
        stack.abort()
        #expect(log.entries.count == 4)
    }

    @Test("After a lost connection the framer is cleaned up, and a retained instance has no effect")
    func abort() throws {
        let layer = makeLayer()
        let delegate = try #require(layer.delegate as? FramerDelegate)
        let instance = NWProtocolFramer.Instance(options: delegate.options, host: delegate)
        let stack = StackDouble([layer])
        #expect(instance.remote == .hostPort(host: "192.0.2.1", port: 9) && instance.parameters != nil)
        stack.abort()
        #expect(log.entries == ["init", "start", "cleanup"])
        instance.async { Issue.record("after cleanup") }
        #expect(!instance.parseInput(minimumIncompleteLength: 0, maximumLength: 1) { buffer, _ in buffer?.count ?? 0 })
        stack.run()
        #expect(stack.outputText.isEmpty)
    }

    @Test("A wake-up uses the machine's clock, and an infinite time never wakes")
    func wakeUp() throws {
        let layer = makeLayer()
        let delegate = try #require(layer.delegate as? FramerDelegate)
        let instance = NWProtocolFramer.Instance(options: delegate.options, host: delegate)
        let stack = StackDouble([layer])
        instance.scheduleWakeup(wakeupTime: .milliseconds(50))
        let time = try #require(stack.deadline)
        stack.advance(to: time - .milliseconds(1))
        #expect(!log.entries.contains("wakeup"))
        stack.advance(to: time)
        #expect(log.entries.last == "wakeup" && stack.deadline == nil)
        instance.scheduleWakeup(wakeupTime: .milliseconds(.max))
        #expect(stack.deadline != nil)
        instance.scheduleWakeup(wakeupTime: .forever)
        #expect(stack.deadline == nil)
    }
}

extension FramerLayerTests {
    @Test("Parsing sees nothing, the whole buffer, or the rest at the end of the stream")
    func windows() throws {
        let layer = makeLayer()
        let delegate = try #require(layer.delegate as? FramerDelegate)
        let instance = NWProtocolFramer.Instance(options: delegate.options, host: delegate)
        let stack = StackDouble([layer])
        var seen: [String] = []
        func parse(_ minimum: Int, _ maximum: Int, _ count: Int) -> Bool {
            instance.parseInput(minimumIncompleteLength: minimum, maximumLength: maximum) { buffer, isComplete in
                seen.append("\(buffer.map { String(decoding: $0, as: UTF8.self) } ?? "nil") \(isComplete)")
                return count
            }
        }
        delegate.options["watch"] = {
            // The framer has advanced its cursor, so the stage calls the framer again.
            delegate.options["watch"] = {}
            #expect(!parse(4, 9, 4))
            #expect(parse(1, 2, 1))
            #expect(parse(2, .max, 0))
        }
        stack.receive("abc")
        delegate.options["watch"] = { #expect(!parse(9, 9, 0)) }
        stack.receive("d", isFinal: true)
        #expect(seen == ["nil false", "ab false", "bc false", "bcd true"])
    }
}
