import Causeway
import Foundation
import Testing

@testable import CausewayStreams

@Suite("Properties of streams")
struct StreamPropertyTests {
    private func settings(_ key: Stream.PropertyKey, _ value: NSNumber) throws -> StreamSettings {
        var settings = StreamSettings()
        settings.apply(try #require(StreamSettings.Change(value, key)))
        #expect((settings.property(key) as? NSNumber)?.boolValue == value.boolValue)
        return settings
    }

    private func parameters(_ settings: StreamSettings, _ base: NWParameters? = nil) -> NWParameters {
        settings.connection(to: .endpoint(.hostPort(host: "192.0.2.1", port: 9), base)).parameters
    }

    @Test("Cellular networks are prohibited, in addition to the parameters' prohibitions")
    func noCellular() throws {
        let forbids = try settings(.noCellular, kCFBooleanTrue)
        #expect(parameters(forbids).prohibitedInterfaceTypes == [.cellular])
        let base = NWParameters.tcp
        base.prohibitedInterfaceTypes = [.wifi]
        #expect(parameters(forbids, base).prohibitedInterfaceTypes == [.wifi, .cellular])
        #expect(base.prohibitedInterfaceTypes == [.wifi])
        #expect(parameters(try settings(.noCellular, kCFBooleanFalse)).prohibitedInterfaceTypes == nil)
    }

    @Test("Expensive networks and those in low-data mode are prohibited")
    func access() throws {
        #expect(parameters(try settings(.allowExpensiveNetworkAccess, kCFBooleanFalse)).prohibitExpensivePaths)
        #expect(parameters(try settings(.allowConstrainedNetworkAccess, kCFBooleanFalse)).prohibitConstrainedPaths)
        let both = parameters(try settings(.allowExpensiveNetworkAccess, kCFBooleanTrue))
        #expect(!both.prohibitExpensivePaths && !both.prohibitConstrainedPaths)
    }

    @Test("Settings of a stream leave the program's own TLS options as they were")
    func ownOptions() throws {
        let own = NWProtocolTLS.Options()
        var settings = StreamSettings()
        let changes = [StreamSettings.Change.options(own), .validatesChain(false), .peerName("peer.example")]
        settings.apply(.several(changes))
        let used = try #require(
            parameters(settings).defaultProtocolStack.applicationProtocols.first as? NWProtocolTLS.Options)
        let values = used.securityProtocolOptions.values
        #expect(values.serverName == "peer.example" && values.peer.verify != nil)
        #expect(own.securityProtocolOptions.values.serverName == nil)
        #expect(own.securityProtocolOptions.values.peer.verify == nil)
    }

    @Test("The names of Core Foundation equal those of the property keys, and other values are refused")
    func names() {
        #expect(Stream.PropertyKey(rawValue: kCFStreamPropertyNoCellular) == .noCellular)
        #expect(StreamSettings.Change("yes" as AnyObject, .noCellular) == nil)
        #expect(StreamSettings.Change(nil, .allowExpensiveNetworkAccess) == nil)
        var (input, output): (InputStream?, OutputStream?)
        Stream.getStreamsToHost(withName: "192.0.2.1", port: 9, inputStream: &input, outputStream: &output)
        #expect(input?.setProperty(kCFBooleanTrue, forKey: .noCellular) == true)
        #expect((output?.property(forKey: .noCellular) as? NSNumber)?.boolValue == true)
        #expect(output?.setProperty(kCFBooleanTrue, forKey: .shouldCloseNativeSocket) == false)
    }

    @Test("A run loop equals itself under both names")
    func runLoops() {
        #expect(RunLoop.main.getCFRunLoop() == CFRunLoopGetMain())
        #expect(CFRunLoopMode.defaultMode.rawValue == RunLoop.Mode.default.rawValue)
    }
}
