import Foundation
import Testing

@testable import Causeway

@Suite("Framer definitions, options and messages")
struct FramerTests {
    private final class Lines: NWProtocolFramerImplementation {
        static let label = "lines"
        init(framer: NWProtocolFramer.Instance) {}
        func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult { .ready }
        func handleInput(framer: NWProtocolFramer.Instance) -> Int { 0 }
        func handleOutput(
            framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool
        ) {}
        func wakeup(framer: NWProtocolFramer.Instance) {}
        func stop(framer: NWProtocolFramer.Instance) -> Bool { true }
        func cleanup(framer: NWProtocolFramer.Instance) {}
    }

    private let definition = NWProtocolFramer.Definition(implementation: Lines.self)

    @Test("A definition has its implementation's name, and each is a different protocol")
    func definitions() {
        #expect(definition.name == "lines")
        #expect(definition == definition)
        #expect(definition != NWProtocolFramer.Definition(implementation: Lines.self))
        #expect(definition.implementation is Lines.Type)
    }

    @Test("Messages keep values of any type, and a context finds them by their protocol")
    func messages() {
        let message = NWProtocolFramer.Message(definition: definition)
        #expect(message["kind"] == nil)
        message["kind"] = 7
        message["text"] = "seven"
        #expect(message["kind"] as? Int == 7)
        message["kind"] = nil
        #expect(message["kind"] == nil)
        let context = NWConnection.ContentContext(identifier: "line", metadata: [message])
        let found = context.protocolMetadata(definition: definition) as? NWProtocolFramer.Message
        #expect(found?["text"] as? String == "seven")
        #expect(context.protocolMetadata(definition: NWProtocolWebSocket.definition) == nil)
    }

    @Test("A value is released when it is replaced")
    func release() {
        final class Value {}
        let message = NWProtocolFramer.Message(definition: definition)
        weak var value: Value?
        do {
            let made = Value()
            value = made
            message["value"] = made
        }
        #expect(value != nil)
        message["value"] = 1
        #expect(value == nil)
    }

    @Test("Options keep values, and a copy is independent")
    func options() throws {
        let options = NWProtocolFramer.Options(definition: definition)
        options["limit"] = 10
        let copy = try #require(options.copyOptions() as? NWProtocolFramer.Options)
        options["limit"] = 20
        #expect(copy["limit"] as? Int == 10)
        #expect(copy.definition == definition)
        #expect(copy.framerDefinition.implementation is Lines.Type)
    }

    @Test("A framer whose connection is gone has no effect")
    func orphan() {
        let instance = NWProtocolFramer.Instance(
            options: NWProtocolFramer.Options(definition: definition), host: nil)
        var calls = 0
        let parsed = instance.parseInput(minimumIncompleteLength: 1, maximumLength: 9) { buffer, isComplete in
            calls += 1
            #expect(buffer == nil && !isComplete)
            return 5
        }
        #expect(!parsed && calls == 1)
        #expect(!instance.parseOutput(minimumIncompleteLength: 1, maximumLength: 9) { _, _ in 0 })
        let message = NWProtocolFramer.Message(instance: instance)
        #expect(message.definition == definition)
        #expect(!instance.deliverInputNoCopy(length: 1, message: message, isComplete: true))
        instance.deliverInput(data: Data([1]), message: message, isComplete: true)
        instance.writeOutput(data: Data([1]))
        instance.writeOutput(data: [UInt8(1)])
        instance.markReady()
        instance.markFailed(error: nil)
        instance.scheduleWakeup(wakeupTime: .milliseconds(.max))
        instance.scheduleWakeup(wakeupTime: .forever)
        instance.async { Issue.record("never runs") }
        #expect(throws: NWError.posix(.EINVAL)) { try instance.writeOutputNoCopy(length: 1) }
        #expect(throws: NWError.posix(.EINVAL)) {
            try instance.prependApplicationProtocol(options: NWProtocolTLS.Options())
        }
        #expect(instance.remote == nil && instance.local == nil && instance.parameters == nil)
    }
}
