module @IrToHlo.277 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<64xi64>, %arg1: tensor<10xf32>, %arg2: tensor<10x256xf32>, %arg3: tensor<256xf32>, %arg4: tensor<256x100xf32>, %arg5: tensor<64x100xf32>, %arg6: tensor<f64>, %arg7: tensor<f32>, %arg8: tensor<f32>, %arg9: tensor<f64>, %arg10: tensor<f32>, %arg11: tensor<256x100xf32>, %arg12: tensor<f32>, %arg13: tensor<256x100xf32>, %arg14: tensor<f32>, %arg15: tensor<256xf32>, %arg16: tensor<256xf32>, %arg17: tensor<10x256xf32>, %arg18: tensor<10x256xf32>, %arg19: tensor<10xf32>, %arg20: tensor<10xf32>) -> (tensor<f32>, tensor<256x100xf32>, tensor<256xf32>, tensor<10x256xf32>, tensor<10xf32>, tensor<256x100xf32>, tensor<256x100xf32>, tensor<256xf32>, tensor<256xf32>, tensor<10x256xf32>, tensor<10x256xf32>, tensor<10xf32>, tensor<10xf32>) {
    %c = stablehlo.constant dense<-100> : tensor<64xi64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<64x256xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<64x10xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<64x10xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<64xi64>) -> tensor<64x10xi64>
    %1 = stablehlo.iota dim = 0 : tensor<10xi64>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<10xi64>) -> tensor<64x10xi64>
    %3 = stablehlo.compare  EQ, %0, %2 : (tensor<64x10xi64>, tensor<64x10xi64>) -> tensor<64x10xi1>
    %4 = stablehlo.select %3, %cst_1, %cst_0 : tensor<64x10xi1>, tensor<64x10xf32>
    %5 = stablehlo.compare  NE, %4, %cst_1 : (tensor<64x10xf32>, tensor<64x10xf32>) -> tensor<64x10xi1>
    %6 = stablehlo.negate %4 : tensor<64x10xf32>
    %7 = stablehlo.transpose %arg4, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[100,256]{0,1}"} : (tensor<256x100xf32>) -> tensor<100x256xf32>
    %8 = stablehlo.dot_general %arg5, %7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x100xf32>, tensor<100x256xf32>) -> tensor<64x256xf32>
    %9 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<256xf32>) -> tensor<64x256xf32>
    %10 = stablehlo.add %8, %9 : tensor<64x256xf32>
    %11 = stablehlo.maximum %10, %cst : tensor<64x256xf32>
    %12 = stablehlo.transpose %arg2, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[256,10]{0,1}"} : (tensor<10x256xf32>) -> tensor<256x10xf32>
    %13 = stablehlo.dot_general %11, %12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x256xf32>, tensor<256x10xf32>) -> tensor<64x10xf32>
    %14 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<10xf32>) -> tensor<64x10xf32>
    %15 = stablehlo.add %13, %14 : tensor<64x10xf32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.maximum across dimensions = [1] : (tensor<64x10xf32>, tensor<f32>) -> tensor<64xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0] : (tensor<64xf32>) -> tensor<64x10xf32>
    %18 = stablehlo.subtract %15, %17 : tensor<64x10xf32>
    %19 = stablehlo.exponential %18 : tensor<64x10xf32>
    %20 = stablehlo.reduce(%19 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<64x10xf32>, tensor<f32>) -> tensor<64xf32>
    %21 = stablehlo.log %20 : tensor<64xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<64xf32>) -> tensor<64x10xf32>
    %23 = stablehlo.subtract %18, %22 : tensor<64x10xf32>
    %24 = stablehlo.multiply %6, %23 : tensor<64x10xf32>
    %25 = stablehlo.select %5, %cst_0, %24 : tensor<64x10xi1>, tensor<64x10xf32>
    %26 = stablehlo.compare  NE, %arg0, %c : (tensor<64xi64>, tensor<64xi64>) -> tensor<64xi1>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<64xi1>) -> tensor<64x10xi1>
    %28 = stablehlo.select %27, %cst_1, %cst_0 : tensor<64x10xi1>, tensor<64x10xf32>
    %29 = stablehlo.multiply %28, %4 : tensor<64x10xf32>
    %30 = stablehlo.multiply %25, %29 : tensor<64x10xf32>
    %31 = stablehlo.reduce(%30 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x10xf32>, tensor<f32>) -> tensor<f32>
    %32 = stablehlo.reduce(%29 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x10xf32>, tensor<f32>) -> tensor<f32>
    %33 = stablehlo.divide %31, %32 : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<256x100xf32>
    %35 = stablehlo.multiply %arg4, %34 : tensor<256x100xf32>
    %36 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<256x100xf32>
    %37 = stablehlo.transpose %arg5, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[100,64]{0,1}"} : (tensor<64x100xf32>) -> tensor<100x64xf32>
    %38 = stablehlo.compare  GT, %11, %cst : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xi1>
    %39 = stablehlo.multiply %6, %29 : tensor<64x10xf32>
    %40 = stablehlo.compare  NE, %32, %cst_3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %41 = stablehlo.select %40, %32, %cst_4 : tensor<i1>, tensor<f32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<64x10xf32>
    %43 = stablehlo.divide %39, %42 : tensor<64x10xf32>
    %44 = stablehlo.exponential %23 : tensor<64x10xf32>
    %45 = stablehlo.reduce(%43 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<64x10xf32>, tensor<f32>) -> tensor<64xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0] : (tensor<64xf32>) -> tensor<64x10xf32>
    %47 = stablehlo.multiply %44, %46 : tensor<64x10xf32>
    %48 = stablehlo.subtract %43, %47 : tensor<64x10xf32>
    %49 = stablehlo.dot_general %48, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x10xf32>, tensor<10x256xf32>) -> tensor<64x256xf32>
    %50 = stablehlo.select %38, %49, %cst : tensor<64x256xi1>, tensor<64x256xf32>
    %51 = stablehlo.dot_general %37, %50, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<100x64xf32>, tensor<64x256xf32>) -> tensor<100x256xf32>
    %52 = stablehlo.transpose %51, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[256,100]{0,1}"} : (tensor<100x256xf32>) -> tensor<256x100xf32>
    %53 = stablehlo.subtract %52, %arg13 {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[256,100]{0,1}"} : tensor<256x100xf32>
    %54 = stablehlo.multiply %36, %53 : tensor<256x100xf32>
    %55 = stablehlo.add %arg13, %54 : tensor<256x100xf32>
    %56 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<256x100xf32>
    %57 = stablehlo.multiply %arg11, %56 : tensor<256x100xf32>
    %58 = stablehlo.multiply %52, %52 {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[256,100]{0,1}"} : tensor<256x100xf32>
    %59 = stablehlo.convert %arg9 : (tensor<f64>) -> tensor<f32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [] : (tensor<f32>) -> tensor<256x100xf32>
    %61 = stablehlo.multiply %58, %60 : tensor<256x100xf32>
    %62 = stablehlo.add %57, %61 : tensor<256x100xf32>
    %63 = stablehlo.sqrt %62 : tensor<256x100xf32>
    %64 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<256x100xf32>
    %65 = stablehlo.divide %63, %64 : tensor<256x100xf32>
    %66 = stablehlo.broadcast_in_dim %arg7, dims = [] : (tensor<f32>) -> tensor<256x100xf32>
    %67 = stablehlo.add %65, %66 : tensor<256x100xf32>
    %68 = stablehlo.divide %55, %67 : tensor<256x100xf32>
    %69 = stablehlo.convert %arg6 : (tensor<f64>) -> tensor<f32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [] : (tensor<f32>) -> tensor<256x100xf32>
    %71 = stablehlo.multiply %68, %70 : tensor<256x100xf32>
    %72 = stablehlo.add %35, %71 : tensor<256x100xf32>
    %73 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %74 = stablehlo.multiply %arg3, %73 : tensor<256xf32>
    %75 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %76 = stablehlo.reduce(%50 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %77 = stablehlo.subtract %76, %arg16 : tensor<256xf32>
    %78 = stablehlo.multiply %75, %77 : tensor<256xf32>
    %79 = stablehlo.add %arg16, %78 : tensor<256xf32>
    %80 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %81 = stablehlo.multiply %arg15, %80 : tensor<256xf32>
    %82 = stablehlo.multiply %76, %76 : tensor<256xf32>
    %83 = stablehlo.broadcast_in_dim %59, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %84 = stablehlo.multiply %82, %83 : tensor<256xf32>
    %85 = stablehlo.add %81, %84 : tensor<256xf32>
    %86 = stablehlo.sqrt %85 : tensor<256xf32>
    %87 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %88 = stablehlo.divide %86, %87 : tensor<256xf32>
    %89 = stablehlo.broadcast_in_dim %arg7, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %90 = stablehlo.add %88, %89 : tensor<256xf32>
    %91 = stablehlo.divide %79, %90 : tensor<256xf32>
    %92 = stablehlo.broadcast_in_dim %69, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %93 = stablehlo.multiply %91, %92 : tensor<256xf32>
    %94 = stablehlo.add %74, %93 : tensor<256xf32>
    %95 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<10x256xf32>
    %96 = stablehlo.multiply %arg2, %95 : tensor<10x256xf32>
    %97 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<10x256xf32>
    %98 = stablehlo.transpose %11, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[256,64]{0,1}"} : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %99 = stablehlo.dot_general %98, %48, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x64xf32>, tensor<64x10xf32>) -> tensor<256x10xf32>
    %100 = stablehlo.transpose %99, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[10,256]{0,1}"} : (tensor<256x10xf32>) -> tensor<10x256xf32>
    %101 = stablehlo.subtract %100, %arg18 {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[10,256]{0,1}"} : tensor<10x256xf32>
    %102 = stablehlo.multiply %97, %101 : tensor<10x256xf32>
    %103 = stablehlo.add %arg18, %102 : tensor<10x256xf32>
    %104 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<10x256xf32>
    %105 = stablehlo.multiply %arg17, %104 : tensor<10x256xf32>
    %106 = stablehlo.multiply %100, %100 {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[10,256]{0,1}"} : tensor<10x256xf32>
    %107 = stablehlo.broadcast_in_dim %59, dims = [] : (tensor<f32>) -> tensor<10x256xf32>
    %108 = stablehlo.multiply %106, %107 : tensor<10x256xf32>
    %109 = stablehlo.add %105, %108 : tensor<10x256xf32>
    %110 = stablehlo.sqrt %109 : tensor<10x256xf32>
    %111 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<10x256xf32>
    %112 = stablehlo.divide %110, %111 : tensor<10x256xf32>
    %113 = stablehlo.broadcast_in_dim %arg7, dims = [] : (tensor<f32>) -> tensor<10x256xf32>
    %114 = stablehlo.add %112, %113 : tensor<10x256xf32>
    %115 = stablehlo.divide %103, %114 : tensor<10x256xf32>
    %116 = stablehlo.broadcast_in_dim %69, dims = [] : (tensor<f32>) -> tensor<10x256xf32>
    %117 = stablehlo.multiply %115, %116 : tensor<10x256xf32>
    %118 = stablehlo.add %96, %117 : tensor<10x256xf32>
    %119 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %120 = stablehlo.multiply %arg1, %119 : tensor<10xf32>
    %121 = stablehlo.broadcast_in_dim %arg12, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %122 = stablehlo.reduce(%48 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<64x10xf32>, tensor<f32>) -> tensor<10xf32>
    %123 = stablehlo.subtract %122, %arg20 : tensor<10xf32>
    %124 = stablehlo.multiply %121, %123 : tensor<10xf32>
    %125 = stablehlo.add %arg20, %124 : tensor<10xf32>
    %126 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %127 = stablehlo.multiply %arg19, %126 : tensor<10xf32>
    %128 = stablehlo.multiply %122, %122 : tensor<10xf32>
    %129 = stablehlo.broadcast_in_dim %59, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %130 = stablehlo.multiply %128, %129 : tensor<10xf32>
    %131 = stablehlo.add %127, %130 : tensor<10xf32>
    %132 = stablehlo.sqrt %131 : tensor<10xf32>
    %133 = stablehlo.broadcast_in_dim %arg8, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %134 = stablehlo.divide %132, %133 : tensor<10xf32>
    %135 = stablehlo.broadcast_in_dim %arg7, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %136 = stablehlo.add %134, %135 : tensor<10xf32>
    %137 = stablehlo.divide %125, %136 : tensor<10xf32>
    %138 = stablehlo.broadcast_in_dim %69, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %139 = stablehlo.multiply %137, %138 : tensor<10xf32>
    %140 = stablehlo.add %120, %139 : tensor<10xf32>
    return %33, %72, %94, %118, %140, %55, %62, %79, %85, %103, %109, %125, %131 : tensor<f32>, tensor<256x100xf32>, tensor<256xf32>, tensor<10x256xf32>, tensor<10xf32>, tensor<256x100xf32>, tensor<256x100xf32>, tensor<256xf32>, tensor<256xf32>, tensor<10x256xf32>, tensor<10x256xf32>, tensor<10xf32>, tensor<10xf32>
  }
}
