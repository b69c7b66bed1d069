import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOResumableUpload

/// Writes each upload to a file, and responds with the file's byte count.
final class FileWriter: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let path: String
    private var file: FileHandle?
    private var count = 0

    init(path: String) { self.path = path }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            count = 0
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            file = FileHandle(forWritingAtPath: path)
        case .body(let piece):
            count += piece.readableBytes
            try? file?.write(contentsOf: Data(piece.readableBytesView))
        case .end:
            try? file?.close()
            var response = HTTPResponse(status: .created)
            let text = "\(count)\n"
            response.headerFields[.contentLength] = "\(text.utf8.count)"
            context.write(wrapOutboundOut(.head(response)), promise: nil)
            context.write(wrapOutboundOut(.body(ByteBuffer(string: text))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}

// Usage: UploadServer PORT PUBLIC-PORT FILE. Serves resumable uploads. Clients reach the server through the public
// port.
let arguments = CommandLine.arguments
guard arguments.count == 4, let port = Int(arguments[1]), let publicPort = Int(arguments[2]) else {
    print("usage: UploadServer PORT PUBLIC-PORT FILE")
    exit(2)
}
let path = arguments[3]
let uploads = HTTPResumableUploadContext(origin: "http://127.0.0.1:\(publicPort)")
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let server = try await ServerBootstrap(group: group)
    .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline()
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            try pipeline.addHandler(
                HTTPResumableUploadHandler(context: uploads) { child in
                    try? child.pipeline.syncOperations.addHandler(FileWriter(path: path))
                })
        }
    }
    .bind(host: "127.0.0.1", port: port).get()
print("ready")
fflush(nil)
try await server.closeFuture.get()
