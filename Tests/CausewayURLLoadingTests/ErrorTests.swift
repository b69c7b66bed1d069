import CausewayProtocols
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Errors (§18)")
struct ErrorTests {
    static let codes: [(LoadFailure.Cause, Int)] = [
        (.cancelled, -999), (.authenticationCancelled, -1012), (.badURL, -1000), (.timedOut, -1001),
        (.unsupportedURL, -1002), (.hostNotFound, -1003), (.connectionRefused, -1004), (.connectionLost, -1005),
        (.tooManyRedirects, -1007), (.redirectTargetInvalid, -1010), (.notConnected, -1009),
        (.protocolViolation, -1011), (.encodingUnknown, -1016),
        (.encodingBroken, -1015), (.unreadableResponse, -1017), (.bodyStreamExhausted, -1021), (.downgrade, -1022),
        (.fileMissing, -1100), (.fileIsDirectory, -1101), (.fileUnreadable, -1102), (.tooLarge, -1103),
        (.fileChanged, -3001),
        (.handshakeFailed, -1200), (.certificateDateInvalid, -1201), (.certificateUntrusted, -1202),
        (.certificateRootUnknown, -1203), (.certificateNotYetValid, -1204), (.clientCertificateRejected, -1205),
        (.clientCertificateRequired, -1206), (.notInCache, -2000), (.fileNotCreated, -3000), (.fileNotOpened, -3001),
        (.fileNotClosed, -3002), (.fileNotWritten, -3003), (.fileNotRemoved, -3004), (.fileNotMoved, -3005),
        (.backgroundSessionInUse, -996), (.resumeDataInvalid, -1002),
        (.authenticationUnavailable, -1013),
    ]

    @Test("Every cause has its code", arguments: codes)
    func code(cause: LoadFailure.Cause, code: Int) {
        #expect(LoadFailure(cause).urlError(for: nil).errorCode == code)
    }

    @Test("The table lists every cause")
    func complete() {
        #expect(Self.codes.count == LoadFailure.Cause.allCases.count)
    }

    @Test("Programs find URL, text and cause in the error, as URLError and as NSError")
    func userInfo() throws {
        let url = URL(string: "http://example.com/")!
        let below = NSError(domain: "below", code: 7)
        let error: any Error = LoadFailure(.timedOut, underlying: below).urlError(for: url)
        let urlError = try #require(error as? URLError)
        #expect(urlError.code == .timedOut)
        #expect(urlError.failingURL == url)
        let object = error as NSError
        #expect(object.domain == NSURLErrorDomain && object.code == NSURLErrorTimedOut)
        #expect(object.userInfo[NSURLErrorFailingURLErrorKey] as? URL == url)
        #expect(object.userInfo["NSErrorFailingURLStringKey"] as? String == "http://example.com/")
        #expect((object.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 7)
        #expect(error.localizedDescription == "The request timed out.")
    }

    @Test(
        "Short descriptions are those of Apple's framework",
        arguments: [
            (URLError.Code.cancelled, "cancelled"), (.badURL, "bad URL"), (.unsupportedURL, "unsupported URL"),
            (.httpTooManyRedirects, "too many HTTP redirects"), (.cannotParseResponse, "cannot parse response"),
            (.dataLengthExceedsMaximum, "resource exceeds maximum size"),
            (.cannotDecodeContentData, "cannot decode content data"),
            (.cannotDecodeRawData, "cannot decode raw data"),
            (.requestBodyStreamExhausted, "request body stream exhausted"),
        ])
    func descriptions(code: URLError.Code, text: String) {
        #expect(URLError(code).localizedDescription == text)
    }

    @Test(
        "A request that cannot be sent names the part that is wrong",
        arguments: [
            (HTTP1Failure.unwritable(.unwritable("value of field X-A")), false, "invalid value of field X-A", -1000),
            (.unwritable(.unwritable("method")), true, "invalid method", -1000),
            (.unwritable(.unwritable("field Content-Length")), true, "invalid field Content-Length", -1000),
            (.misuse("content longer than stated"), true, "content longer than stated", -1021),
            (.misuse("method CONNECT"), false, "method CONNECT", -1000),
        ])
    func unsendable(failure: HTTP1Failure, hasContent: Bool, reason: String, code: Int) {
        let error = LoadFailure(unsendable: failure, hasContent: hasContent).urlError(for: nil)
        #expect(error.errorCode == code)
        #expect(error.localizedDescription == "The request cannot be sent: \(reason).")
        #expect((error as any Error).localizedDescription == error.localizedDescription)
        #expect(error.userInfo[NSLocalizedFailureReasonErrorKey] as? String == reason)
    }

    @Test("Details of the user info have properties")
    func details() {
        let error = LoadFailure(.notConnected, details: [NSURLErrorNetworkUnavailableReasonKey: 2]).urlError(for: nil)
        #expect(error.networkUnavailableReason == .constrained)
        let broken = LoadFailure(.connectionLost, details: [NSURLSessionDownloadTaskResumeData: Data([1])])
        #expect(broken.urlError(for: nil).downloadTaskResumeData == Data([1]))
        #expect(broken.urlError(for: nil).uploadTaskResumeData == nil)
    }
}
