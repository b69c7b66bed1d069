import Testing

@testable import Causeway

@Suite("Traffic marking")
struct TrafficMarkingTests {
    static let codepoints: [(NWParameters.ServiceClass, UInt8)] = [
        (.bestEffort, 0), (.background, 8), (.interactiveVideo, 34), (.interactiveVoice, 46), (.responsiveData, 18),
        (.signaling, 24),
    ]

    @Test("Each service class has its codepoint, and the codepoint its class", arguments: codepoints)
    func codepoint(serviceClass: NWParameters.ServiceClass, dscp: UInt8) {
        #expect(serviceClass.dscp == dscp)
        #expect(NWParameters.ServiceClass(dscp: dscp) == serviceClass)
    }

    @Test("Every other codepoint is best effort")
    func unknownCodepoints() {
        let known = Set(Self.codepoints.map(\.1))
        for dscp in UInt8(0)..<64 where !known.contains(dscp) {
            #expect(NWParameters.ServiceClass(dscp: dscp) == .bestEffort)
        }
    }

    @Test(
        "ECN codepoints are those of RFC 3168 §5",
        arguments: [(NWProtocolIP.ECN.nonECT, 0), (.ect1, 1), (.ect0, 2), (.ce, 3)] as [(NWProtocolIP.ECN, UInt8)])
    func ecn(ecn: NWProtocolIP.ECN, bits: UInt8) {
        #expect(ecn.codepoint == bits)
        #expect(NWProtocolIP.ECN(trafficClass: 0b1011_1000 | bits) == ecn)
    }

    @Test("Metadata use the class of the connection until they set their own")
    func trafficClass() {
        let metadata = NWProtocolIP.Metadata()
        #expect(metadata.ecn == .nonECT)
        #expect(metadata.serviceClass == .bestEffort)
        #expect(metadata.receiveTime == 0)
        #expect(metadata.trafficClass(connectionClass: .signaling) == 24 << 2)
        metadata.ecn = .ect0
        #expect(metadata.trafficClass(connectionClass: .signaling) == 24 << 2 | 0b10)
        metadata.serviceClass = .bestEffort
        #expect(metadata.trafficClass(connectionClass: .signaling) == 0b10)
    }

    @Test("The chained setters change the same object")
    func chained() {
        let metadata = NWProtocolIP.Metadata()
        #expect(metadata.ecn(.ce).serviceClass(.background) === metadata)
        #expect(metadata.ecn == .ce)
        #expect(metadata.serviceClass == .background)
    }
}
