import CausewayTLS

@testable import CausewayPackets

/// Test vectors from RFC 9001 Appendix A and RFC 9369 Appendix A.
enum QUICVectors {
    static let identifier: [UInt8] = bytes("8394c8f03e515708")

    /// The frames of the client's Initial packet without padding: one CRYPTO frame of 241 bytes (RFC 9001 §A.2).
    static let frames: [UInt8] = bytes(
        """
        060040f1010000ed0303ebf8fa56f12939b9584a3896472ec40bb863cfd3e86804fe3a47f06a2b69484c00000413011302010000\
        c000000010000e00000b6578616d706c652e636f6dff01000100000a00080006001d0017001800100007000504616c706e000500\
        050100000000003300260024001d00209370b2c9caa47fbabaf4559fedba753de171fa71f50f1ce15d43e994ec74d748002b0003\
        020304000d0010000e0403050306030203080408050806002d00020101001c00024001003900320408ffffffffffffffff050480\
        00ffff07048000ffff0801100104800075300901100f088394c8f03e51570806048000ffff
        """)

    /// The client's Initial packet of version 1 (RFC 9001 §A.2).
    static let versionOne: [UInt8] = bytes(
        """
        c000000001088394c8f03e5157080000449e7b9aec34d1b1c98dd7689fb8ec11d242b123dc9bd8bab936b47d92ec356c0bab7df5\
        976d27cd449f63300099f3991c260ec4c60d17b31f8429157bb35a1282a643a8d2262cad67500cadb8e7378c8eb7539ec4d4905f\
        ed1bee1fc8aafba17c750e2c7ace01e6005f80fcb7df621230c83711b39343fa028cea7f7fb5ff89eac2308249a02252155e2347\
        b63d58c5457afd84d05dfffdb20392844ae812154682e9cf012f9021a6f0be17ddd0c2084dce25ff9b06cde535d0f920a2db1bf3\
        62c23e596d11a4f5a6cf3948838a3aec4e15daf8500a6ef69ec4e3feb6b1d98e610ac8b7ec3faf6ad760b7bad1db4ba3485e8a94\
        dc250ae3fdb41ed15fb6a8e5eba0fc3dd60bc8e30c5c4287e53805db059ae0648db2f64264ed5e39be2e20d82df566da8dd5998c\
        cabdae053060ae6c7b4378e846d29f37ed7b4ea9ec5d82e7961b7f25a9323851f681d582363aa5f89937f5a67258bf63ad6f1a0b\
        1d96dbd4faddfcefc5266ba6611722395c906556be52afe3f565636ad1b17d508b73d8743eeb524be22b3dcbc2c7468d54119c74\
        68449a13d8e3b95811a198f3491de3e7fe942b330407abf82a4ed7c1b311663ac69890f4157015853d91e923037c227a33cdd5ec\
        281ca3f79c44546b9d90ca00f064c99e3dd97911d39fe9c5d0b23a229a234cb36186c4819e8b9c5927726632291d6a418211cc29\
        62e20fe47feb3edf330f2c603a9d48c0fcb5699dbfe5896425c5bac4aee82e57a85aaf4e2513e4f05796b07ba2ee47d80506f8d2\
        c25e50fd14de71e6c418559302f939b0e1abd576f279c4b2e0feb85c1f28ff18f58891ffef132eef2fa09346aee33c28eb130ff2\
        8f5b766953334113211996d20011a198e3fc433f9f2541010ae17c1bf202580f6047472fb36857fe843b19f5984009ddc324044e\
        847a4f4a0ab34f719595de37252d6235365e9b84392b061085349d73203a4a13e96f5432ec0fd4a1ee65accdd5e3904df54c1da5\
        10b0ff20dcc0c77fcb2c0e0eb605cb0504db87632cf3d8b4dae6e705769d1de354270123cb11450efc60ac47683d7b8d0f811365\
        565fd98c4c8eb936bcab8d069fc33bd801b03adea2e1fbc5aa463d08ca19896d2bf59a071b851e6c239052172f296bfb5e724047\
        90a2181014f3b94a4e97d117b438130368cc39dbb2d198065ae3986547926cd2162f40a29f0c3c8745c0f50fba3852e566d44575\
        c29d39a03f0cda721984b6f440591f355e12d439ff150aab7613499dbd49adabc8676eef023b15b65bfc5ca06948109f23f350db\
        82123535eb8a7433bdabcb909271a6ecbcb58b936a88cd4e8f2e6ff5800175f113253d8fa9ca8885c2f552e657dc603f252e1a8e\
        308f76f0be79e2fb8f5d5fbbe2e30ecadd220723c8c0aea8078cdfcb3868263ff8f0940054da48781893a7e49ad5aff4af300cd8\
        04a6b6279ab3ff3afb64491c85194aab760d58a606654f9f4400e8b38591356fbf6425aca26dc85244259ff2b19c41b9f96f3ca9\
        ec1dde434da7d2d392b905ddf3d1f9af93d1af5950bd493f5aa731b4056df31bd267b6b90a079831aaf579be0a39013137aac6d4\
        04f518cfd46840647e78bfe706ca4cf5e9c5453e9f7cfd2b8b4c8d169a44e55c88d4a9a7f9474241e221af44860018ab0856972e\
        194cd934
        """)

    /// The client's Initial packet of version 2 (RFC 9369 §A.2).
    static let versionTwo: [UInt8] = bytes(
        """
        d76b3343cf088394c8f03e5157080000449ea0c95e82ffe67b6abcdb4298b485dd04de806071bf03dceebfa162e75d6c96058bdb\
        fb127cdfcbf903388e99ad049f9a3dd4425ae4d0992cfff18ecf0fdb5a842d09747052f17ac2053d21f57c5d250f2c4f0e0202b7\
        0785b7946e992e58a59ac52dea6774d4f03b55545243cf1a12834e3f249a78d395e0d18f4d766004f1a2674802a747eaa901c3f1\
        0cda5500cb9122faa9f1df66c392079a1b40f0de1c6054196a11cbea40afb6ef5253cd6818f6625efce3b6def6ba7e4b37a40f77\
        32e093daa7d52190935b8da58976ff3312ae50b187c1433c0f028edcc4c2838b6a9bfc226ca4b4530e7a4ccee1bfa2a3d396ae5a\
        3fb512384b2fdd851f784a65e03f2c4fbe11a53c7777c023462239dd6f7521a3f6c7d5dd3ec9b3f233773d4b46d23cc375eb198c\
        63301c21801f6520bcfb7966fc49b393f0061d974a2706df8c4a9449f11d7f3d2dcbb90c6b877045636e7c0c0fe4eb0f69754546\
        0c806910d2c355f1d253bc9d2452aaa549e27a1fac7cf4ed77f322e8fa894b6a83810a34b361901751a6f5eb65a0326e07de7c12\
        16ccce2d0193f958bb3850a833f7ae432b65bc5a53975c155aa4bcb4f7b2c4e54df16efaf6ddea94e2c50b4cd1dfe06017e0e9d0\
        2900cffe1935e0491d77ffb4fdf85290fdd893d577b1131a610ef6a5c32b2ee0293617a37cbb08b847741c3b8017c25ca9052ca1\
        079d8b78aebd47876d330a30f6a8c6d61dd1ab5589329de714d19d61370f8149748c72f132f0fc99f34d766c6938597040d8f9e2\
        bb522ff99c63a344d6a2ae8aa8e51b7b90a4a806105fcbca31506c446151adfeceb51b91abfe43960977c87471cf9ad4074d30e1\
        0d6a7f03c63bd5d4317f68ff325ba3bd80bf4dc8b52a0ba031758022eb025cdd770b44d6d6cf0670f4e990b22347a7db848265e3\
        e5eb72dfe8299ad7481a408322cac55786e52f633b2fb6b614eaed18d703dd84045a274ae8bfa73379661388d6991fe39b0d93de\
        bb41700b41f90a15c4d526250235ddcd6776fc77bc97e7a417ebcb31600d01e57f32162a8560cacc7e27a096d37a1a86952ec71b\
        d89a3e9a30a2a26162984d7740f81193e8238e61f6b5b984d4d3dfa033c1bb7e4f0037febf406d91c0dccf32acf423cfa1e70710\
        10d3f270121b493ce85054ef58bada42310138fe081adb04e2bd901f2f13458b3d6758158197107c14ebb193230cd1157380aa79\
        cae1374a7c1e5bbcb80ee23e06ebfde206bfb0fcbc0edc4ebec309661bdd908d532eb0c6adc38b7ca7331dce8dfce39ab71e7c32\
        d318d136b6100671a1ae6a6600e3899f31f0eed19e3417d134b90c9058f8632c798d4490da4987307cba922d61c39805d072b589\
        bd52fdf1e86215c2d54e6670e07383a27bbffb5addf47d66aa85a0c6f9f32e59d85a44dd5d3b22dc2be80919b490437ae4f36a0a\
        e55edf1d0b5cb4e9a3ecabee93dfc6e38d209d0fa6536d27a5d6fbb17641cde27525d61093f1b28072d111b2b4ae5f89d5974ee1\
        2e5cf7d5da4d6a31123041f33e61407e76cffcdcfd7e19ba58cf4b536f4c4938ae79324dc402894b44faf8afbab35282ab659d13\
        c93f70412e85cb199a37ddec600545473cfb5a05e08d0b209973b2172b4d21fb69745a262ccde96ba18b2faa745b6fe189cf772a\
        9f84cbfc
        """)

    /// The server's Initial packet for QUIC version 1 (RFC 9001 §A.3).
    static let serverVersionOne: [UInt8] = bytes(
        """
        cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780bb38cc5a99f\
        5ede4cf73c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84022f8ef4cdd93795\
        d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc42158407dd074ee
        """)

    static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0..<$0 + 2]), radix: 16) ?? 0 }
    }
}

extension QUICInitialCipher {
    /// A cipher that uses OpenSSL's functions.
    static let openSSL = QUICInitialCipher(
        authenticate: { LibraryCipher.hmacSHA256(key: $0, message: $1) },
        encryptBlock: { LibraryCipher.aes128(key: $0, block: $1) },
        open: { LibraryCipher.openAES128GCM(key: $0, nonce: $1, authenticated: $2, sealed: $3) })

    /// A cipher for tests in which the test chooses the frames. It leaves the content unencrypted, and uses the key as
    /// tag.
    static let transparent = QUICInitialCipher(
        authenticate: { key, message in
            var sum: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in key + message { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
            return (0..<32).map { UInt8(truncatingIfNeeded: sum >> (($0 & 7) * 8)) }
        },
        encryptBlock: { _, block in [UInt8](repeating: 0, count: block.count) },
        open: { key, _, _, sealed in Array(sealed.suffix(16)) == key ? Array(sealed.dropLast(16)) : nil })

    /// A cipher whose functions all fail, as if the crypto library were missing.
    static let missing = QUICInitialCipher(
        authenticate: { _, _ in nil }, encryptBlock: { _, _ in nil }, open: { _, _, _, _ in nil })
}

extension QUICInitials {
    mutating func open(_ datagram: [UInt8], _ flow: Flow) -> Opened? { open(ByteView(datagram.span), flow) }
}

extension CryptoAssembly {
    mutating func add(_ frames: [UInt8]) { add(frames: ByteView(frames.span)) }
}
