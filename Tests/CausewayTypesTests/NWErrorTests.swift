import CausewayTypes
import Foundation
import Testing

@Suite("NWError")
struct NWErrorTests {
    @Test(
        "Prints the code and its meaning",
        arguments: [
            (.posix(.ECONNREFUSED), "POSIXErrorCode(rawValue: 111): Connection refused", 111),
            (.posix(.ETIMEDOUT), "POSIXErrorCode(rawValue: 110): Connection timed out", 110),
            (.posix(.EHOSTUNREACH), "POSIXErrorCode(rawValue: 113): No route to host", 113),
            (.dns(-65554), "-65554: NoSuchRecord", -65554), (.dns(-65570), "-65570: PolicyDenied", -65570),
            (.dns(-1), "-1: Unknown", -1), (.tls(-9808), "-9808: bad certificate format", -9808),
            (.tls(-9858), "-9858: handshake failure", -9858), (.tls(7), "7: Unknown", 7),
            (.wifiAware(3), "3: Unknown", 3),
        ] as [(NWError, String, Int)])
    func prints(error: NWError, text: String, code: Int) {
        #expect("\(error)" == text)
        #expect(error.errorCode == code)
        #expect(error._code == code)
        #expect(error._domain == "Network.NWError")
    }

    @Test(
        "The localized text",
        arguments: [
            (
                .posix(.ECONNREFUSED),
                "The operation couldn’t be completed. (Network.NWError error 111 - Connection refused)"
            ),
            (.dns(-65554), "The operation couldn’t be completed. (Network.NWError error -65554 - NoSuchRecord)"),
            (.tls(1), "The operation couldn’t be completed. (Network.NWError error 1.)"),
        ] as [(NWError, String)])
    func userInfo(error: NWError, text: String) {
        #expect(error.errorUserInfo[NSLocalizedDescriptionKey] as? String == text)
    }

    @Test(
        "From errno; numbers without a name become EINVAL",
        arguments: [
            (ECONNREFUSED, .posix(.ECONNREFUSED)), (EPIPE, .posix(.EPIPE)), (0, .posix(.EINVAL)), (-1, .posix(.EINVAL)),
            (9999, .posix(.EINVAL)),
        ] as [(Int32, NWError)])
    func fromErrno(code: Int32, expected: NWError) {
        #expect(NWError(errno: code) == expected)
    }

    @Test("Every DNS-SD code in the range has a name, except the unassigned one")
    func dnsNames() {
        let unnamed = (-65572 ... -65537).filter { NWError.dns(Int32($0)).reason == nil }
        #expect(unnamed == [-65546])
        #expect(NWError.dns(Int32(kDNSServiceErr_NoError)).reason == "NoError")
        #expect(NWError.dns(Int32(kDNSServiceErr_DefunctConnection)).reason == "DefunctConnection")
        #expect(kDNSServiceErr_DefunctConnection == -65569)
        #expect(kDNSServiceErr_NoAuth == -65555)
    }

    @Test("Every Secure Transport code has a text")
    func tlsTexts() {
        let unnamed = (-9890 ... -9800).filter { NWError.tls(Int32($0)).reason == nil }
        #expect(unnamed == Array(-9889 ... -9887) + Array(-9879 ... -9866))
        #expect(errSSLPeerProtocolVersion == -9836)
        #expect(errSSLHandshakeFail == -9858)
    }

    @Test("Equal numbers of different kinds differ")
    func equality() {
        #expect(NWError.dns(-9808) != NWError.tls(-9808))
        #expect(NWError.tls(-9808) == NWError.tls(errSSLBadCert))
    }
}
